#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The calling thread's identity: unique among live threads, and one instruction to read.
static inline uintptr_t current_thread_identity(void) {
    return (uintptr_t)__builtin_thread_pointer();
}

/// Swift imports no variadic functions.
static inline bool is_main_thread(void) {
    return syscall(SYS_gettid) == getpid();
}

/// Counts a reference to an object of Swift's that no other thread has one to. The runtime has these two for code that is
/// compiled for a single thread.
void *_Nonnull swift_nonatomic_retain(void *_Nonnull object);
void swift_nonatomic_release(void *_Nonnull object);

/// The task that runs on the calling thread.
const void *_Nullable swift_task_getCurrent(void) __attribute__((swiftcall));

struct executor_reference {
    uintptr_t identity;
    uintptr_t implementation;
};

/// What the task that runs on the calling thread is isolated to, and the task executor that it prefers; of zeros if it is none.
struct executor_reference swift_task_getCurrentExecutor(void) __attribute__((swiftcall));
struct executor_reference swift_task_getPreferredTaskExecutor(void) __attribute__((swiftcall));
