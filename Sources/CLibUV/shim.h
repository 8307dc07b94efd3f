#pragma once
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

/// Swift imports neither variadic functions nor GNU extensions.
static inline bool is_main_thread(void) {
    return syscall(SYS_gettid) == getpid();
}
