#pragma once
#include <malloc.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Gives the calling thread a view of its own of what is mounted: `unshare(CLONE_NEWNS)`, a GNU extension.
static inline int unshare_mounts(void) {
    return (int)syscall(SYS_unshare, 0x00020000);
}

/// The place of `needle` among `size` bytes, by a GNU extension: `memmem`. NULL if it is not there.
extern void *memmem(const void *bytes, size_t size, const void *needle, size_t needle_size);
