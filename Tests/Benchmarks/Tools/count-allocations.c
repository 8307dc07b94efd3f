// Preloaded into a program (LD_PRELOAD), counts its heap allocations and the blocks that are alive, and prints
// both numbers when it exits, or is told to by SIGTERM, as a server is.

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static long allocations, live;

static void count_one(void) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
}

void free(void *block) {
    if (block != NULL) __atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
    __libc_free(block);
}

void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    count_one();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    count_one();
    if (block != NULL) __atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = memalign(alignment, size);
    return *block == NULL ? 12 /* ENOMEM */ : 0;
}

__attribute__((constructor)) static void prepare(void) { signal(SIGTERM, exit); }

__attribute__((destructor)) static void report(void) { fprintf(stderr, "allocations %ld\nlive %ld\n", allocations, live); }
