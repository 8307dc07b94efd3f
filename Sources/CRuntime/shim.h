#pragma once
#include <stdint.h>

/// The calling thread's identity: unique among live threads, and one instruction to read.
static inline uintptr_t current_thread_identity(void) {
    return (uintptr_t)__builtin_thread_pointer();
}

/// Counts a reference to an object of Swift's that no other thread has one to. The runtime has these two for code that is
/// compiled for a single thread.
void *_Nonnull swift_nonatomic_retain(void *_Nonnull object);
void swift_nonatomic_release(void *_Nonnull object);
