#pragma once
#include <stdint.h>

/// The calling thread's identity: unique among live threads, and one instruction to read.
static inline uintptr_t current_thread_identity(void) {
    return (uintptr_t)__builtin_thread_pointer();
}
