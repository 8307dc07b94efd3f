#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Gives the calling thread a view of its own of what is mounted: `unshare(CLONE_NEWNS)`, a GNU extension.
static inline int unshare_mounts(void) {
    return (int)syscall(SYS_unshare, 0x00020000);
}

/// Gives the calling thread a network of its own, in which nothing but the loopback interface is there.
static inline int unshare_network(void) {
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (syscall(SYS_unshare, 0x40000000) != 0) return -1;
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = ioctl(any, SIOCSIFFLAGS, &lo);
    close(any);
    return result;
}

/// Makes the system call `number` fail with `error` in this process from now on, or return 0 if that is 0: only with `size`
/// as its third argument, if that is not 0. Returns 0 if that can be done.
static inline int make_call_fail(int number, int error, unsigned size) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | (size > 0 ? BPF_JEQ : BPF_JGE) | BPF_K, size, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 6, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/// The place of `needle` among `size` bytes, by a GNU extension: `memmem`. NULL if it is not there.
extern void *memmem(const void *bytes, size_t size, const void *needle, size_t needle_size);
