#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

/// Adds a handler to the current task, and returns what removes it. The task calls the handler when it is cancelled, on any
/// thread, and at once if it is cancelled already. The task allocates the handler's memory on its stack.
const void *_Nonnull swift_task_addCancellationHandler(
    void (*_Nonnull handler)(__attribute__((swift_context)) void *_Nonnull context) __attribute__((swiftcall)),
    void *_Nonnull context) __attribute__((swiftcall));
void swift_task_removeCancellationHandler(const void *_Nonnull handler) __attribute__((swiftcall));

/// In Swift.
void swift_uv_futures_task_was_cancelled(const void *_Nonnull cancellation);

static inline __attribute__((swiftcall)) void pass_on_cancellation(
    __attribute__((swift_context)) void *_Nonnull cancellation) {
    swift_uv_futures_task_was_cancelled(cancellation);
}

static inline const void *_Nonnull add_cancellation_handler(void *_Nonnull cancellation) {
    return swift_task_addCancellationHandler(pass_on_cancellation, cancellation);
}

struct executor_reference {
    uintptr_t identity;
    uintptr_t implementation;
};

/// What the task that runs on the calling thread is isolated to, and the task executor that it prefers; of zeros if it is none.
struct executor_reference swift_task_getCurrentExecutor(void) __attribute__((swiftcall));
struct executor_reference swift_task_getPreferredTaskExecutor(void) __attribute__((swiftcall));

/// Return addresses of the calls that are on the stack, innermost first; zeros behind the last one.
struct return_addresses {
    uintptr_t address[24];
};

int pthread_getattr_np(pthread_t thread, pthread_attr_t *_Nonnull attributes);

/// Where the calling thread's stack ends, as far as the system knows, if `address` is on that; else 0.
static inline uintptr_t end_of_stack_of(uintptr_t address) {
    static __thread uintptr_t start, end;
    if (end == 0) {
        pthread_attr_t attributes;
        void *lowest;
        size_t size;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
        if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
            start = (uintptr_t)lowest;
            end = start + size;
        }
        pthread_attr_destroy(&attributes);
    }
    return start <= address && address < end ? end : 0;
}

/// Whether the user has switched backtraces of crashes off, which take their time.
static inline bool wants_no_backtrace(void) {
    const char *settings = getenv("SWIFT_BACKTRACE");
    return settings && strstr(settings, "enable=no");
}

/// How deep the stack is here.
static inline uintptr_t stack_depth(void) { return (uintptr_t)__builtin_frame_address(0); }

/// Follows the frame pointers up to `outermost`, if that is not 0. Code that uses that register for something else may end
/// the walk early, but not lead it off the stack.
__attribute__((no_sanitize("address", "thread")))
static inline struct return_addresses return_addresses_within(uintptr_t outermost) {
    struct return_addresses found = {{0}};
    uintptr_t frame = stack_depth();
    uintptr_t last = end_of_stack_of(frame);
    if (last == 0) return found;
    last -= 2 * sizeof(uintptr_t);
    if (outermost != 0 && outermost < last) last = outermost;
    for (int i = 0; i < 24 && frame <= last && frame % sizeof(uintptr_t) == 0; i++) {
        const uintptr_t *record = (const uintptr_t *)frame;
        found.address[i] = record[1];
        if (record[0] <= frame) break;
        frame = record[0];
    }
    return found;
}

/// Swift has no subscript for an array of C.
static inline uintptr_t return_address_at(struct return_addresses of, int index) { return of.address[index]; }
