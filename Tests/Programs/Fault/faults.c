// A library to preload: makes system calls fail, as FAULT says, from faults_begin() to faults_end().
// FAULT=CALL:KIND:WHEN. KIND is the name of an error, "short" for half of the bytes or one message, or "zero" for none.
// WHEN is "always", or the number of the one call that fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

typedef long (*function)(long, ...);

static char fault_call[32];
static enum { NOTHING, ERROR, SHORT, ZERO } fault_kind;
static int fault_error;
static long fault_when;
static atomic_bool is_on;
static atomic_long calls, faults;

/// What of the arguments of a call says how much.
enum { NONE, COUNT, PARTS };

/// A function of libc, the name of its call, and which of its arguments says how much.
struct call {
    const char *symbol, *name;
    int amount, place;
    atomic_bool seen;
    function real;
};

static struct call read_of_wakes = {.name = "read_wakes"}, write_of_wakes = {.name = "write_wakes"};

static long last_error(const char *name, int error) {
    if (!strcmp(name, "pthread_create")) return error;
    errno = error;
    return -1;
}

/// What libuv writes to wake a loop, and reads of it, counts as a call of its own.
static bool wakes(struct call *call, long *a) {
    long size = a[2];
    return (!strcmp(call->name, "write") && size <= 16)
        || (!strcmp(call->name, "read") && (size <= 16 || size == 512 || size == 1024));
}

static long perform(struct call *call, function real, long *a) {
    if (!atomic_load(&is_on)) goto real;
    if (wakes(call, a)) call = call->name[0] == 'w' ? &write_of_wakes : &read_of_wakes;
    atomic_store(&call->seen, true);
    if (fault_kind == NOTHING || strcmp(call->name, fault_call)) goto real;
    if ((fault_kind == SHORT || fault_kind == ZERO) && call->amount == COUNT && a[call->place] <= 16) goto real;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (fault_when > 0 && number != fault_when) goto real;
    atomic_fetch_add(&faults, 1);
    switch (fault_kind) {
    case ERROR:
        // The descriptor is gone even if this fails.
        if (!strcmp(call->name, "close")) real(a[0]);
        return last_error(call->name, fault_error);
    case ZERO: return 0;
    default: break;
    }
    if (call->amount == COUNT) a[call->place] /= 2;
    if (call->amount == PARTS && a[call->place] > 1) a[call->place] = 1;
    if (call->amount == PARTS && (!strncmp(call->name, "readv", 5) || strstr(call->name, "writev"))) {
        struct iovec part = *(struct iovec *)a[1];
        if (part.iov_len > 16) part.iov_len /= 2;
        return real(a[0], &part, a[2], a[3], a[4], a[5]);
    }
real:
    return real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

#define CALLS(X) \
    X(socket, "socket", NONE, 0) X(bind, "bind", NONE, 0) X(listen, "listen", NONE, 0) X(connect, "connect", NONE, 0) \
    X(accept4, "accept4", NONE, 0) X(getsockname, "getsockname", NONE, 0) X(getpeername, "getpeername", NONE, 0) \
    X(getsockopt, "getsockopt", NONE, 0) X(setsockopt, "setsockopt", NONE, 0) X(shutdown, "shutdown", NONE, 0) \
    X(socketpair, "socketpair", NONE, 0) X(read, "read", COUNT, 2) X(readv, "readv", PARTS, 2) \
    X(write, "write", COUNT, 2) X(writev, "writev", PARTS, 2) X(pread, "pread", COUNT, 2) \
    X(pread64, "pread", COUNT, 2) \
    X(pwrite, "pwrite", COUNT, 2) X(pwrite64, "pwrite", COUNT, 2) X(pwritev64v2, "pwritev2", PARTS, 2) \
    X(recv, "recv", COUNT, 2) X(send, "send", COUNT, 2) X(sendto, "sendto", NONE, 0) X(recvmsg, "recvmsg", NONE, 0) \
    X(sendmsg, "sendmsg", NONE, 0) X(recvmmsg, "recvmmsg", PARTS, 2) X(sendmmsg, "sendmmsg", PARTS, 2) \
    X(epoll_create1, "epoll_create1", NONE, 0) X(epoll_ctl, "epoll_ctl", NONE, 0) \
    X(epoll_wait, "epoll_wait", NONE, 0) X(epoll_pwait, "epoll_wait", NONE, 0) X(eventfd, "eventfd2", NONE, 0) \
    X(pipe2, "pipe2", NONE, 0) X(open, "open", NONE, 0) X(open64, "open", NONE, 0) X(close, "close", NONE, 0) \
    X(fcntl, "fcntl", NONE, 0) X(fcntl64, "fcntl", NONE, 0) X(ioctl, "ioctl", NONE, 0) X(fstat, "fstat", NONE, 0) \
    X(fstat64, "fstat", NONE, 0) X(lstat, "lstat", NONE, 0) X(fsync, "fsync", NONE, 0) \
    X(fdatasync, "fdatasync", NONE, 0) X(ftruncate, "ftruncate", NONE, 0) X(ftruncate64, "ftruncate", NONE, 0) \
    X(fchmod, "fchmod", NONE, 0) X(chmod, "chmod", NONE, 0) X(renameat2, "renameat2", NONE, 0) \
    X(unlink, "unlink", NONE, 0) X(unlinkat, "unlinkat", NONE, 0) X(mkdirat, "mkdirat", NONE, 0) \
    X(linkat, "linkat", NONE, 0) X(symlinkat, "symlinkat", NONE, 0) X(readlinkat, "readlinkat", NONE, 0) \
    X(readlink, "readlink", NONE, 0) X(sendfile, "sendfile", COUNT, 3) X(sendfile64, "sendfile", COUNT, 3) \
    X(inotify_init1, "inotify_init1", NONE, 0) X(inotify_add_watch, "inotify_add_watch", NONE, 0) \
    X(poll, "poll", NONE, 0) X(kill, "kill", NONE, 0) X(mmap, "mmap", NONE, 0) X(__clone, "clone", NONE, 0) \
    X(sigaction, "sigaction", NONE, 0) X(pthread_create, "pthread_create", NONE, 0)

#define DECLARE(symbol, name, amount, place) static struct call call_##symbol = {#symbol, name, amount, place};
CALLS(DECLARE)

#define FAKE(symbol, name, amount, place) \
    long fake_##symbol(long, long, long, long, long, long, long) __asm__(#symbol); \
    long fake_##symbol(long a, long b, long c, long d, long e, long f, long g) { \
        if (!call_##symbol.real) call_##symbol.real = (function)dlsym(RTLD_NEXT, #symbol); \
        return perform(&call_##symbol, call_##symbol.real, (long[]){a, b, c, d, e, f, g}); \
    }
CALLS(FAKE)

/// What is called by its number.
static struct { long number; struct call call; } numbered[] = {
    {SYS_getdents64, {.name = "getdents64"}}, {437, {.name = "openat2"}}, {SYS_waitid, {.name = "waitid"}},
    {434, {.name = "pidfd_open"}}, {424, {.name = "pidfd_send_signal"}}, {436, {.name = "close_range"}},
    {SYS_execve, {.name = "execve"}}, {SYS_statx, {.name = "statx"}},
    {SYS_copy_file_range, {.name = "copy_file_range"}},
    {SYS_setsid, {.name = "setsid"}}, {SYS_setpgid, {.name = "setpgid"}}, {SYS_dup3, {.name = "dup3"}},
};

static function real_syscall;

long fake_syscall(long, long, long, long, long, long, long) __asm__("syscall");
long fake_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (!real_syscall) real_syscall = (function)dlsym(RTLD_NEXT, "syscall");
    long all[] = {number, a, b, c, d, e, f};
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        if (numbered[i].number == number) return perform(&numbered[i].call, real_syscall, all);
    return real_syscall(number, a, b, c, d, e, f);
}

__attribute__((constructor)) static void read_fault(void) {
#define RESOLVE(symbol, name, amount, place) call_##symbol.real = (function)dlsym(RTLD_NEXT, #symbol);
    CALLS(RESOLVE)
    real_syscall = (function)dlsym(RTLD_NEXT, "syscall");
    char kind[32], when[32];
    const char *fault = getenv("FAULT");
    if (!fault || sscanf(fault, "%31[^:]:%31[^:]:%31s", fault_call, kind, when) != 3) return;
    fault_when = strcmp(when, "always") ? atol(when) : 0;
    fault_kind = !strcmp(kind, "short") ? SHORT : !strcmp(kind, "zero") ? ZERO : ERROR;
    if (fault_kind != ERROR) return;
    while (fault_error < 200 && (!strerrorname_np(fault_error) || strcmp(strerrorname_np(fault_error), kind)))
        fault_error++;
    if (fault_error == 200) abort();
}

void faults_begin(void) {
    atomic_store(&calls, 0);
    atomic_store(&is_on, true);
}

void faults_end(void) { atomic_store(&is_on, false); }

/// How many calls have been made to fail so far.
long faults_made(void) { return atomic_load(&faults); }

/// Writes the names of the calls that were made between begin and end.
void faults_list(void) {
#define LIST(symbol, title, amount, place) if (call_##symbol.seen) puts(call_##symbol.name);
    CALLS(LIST)
    if (read_of_wakes.seen) puts(read_of_wakes.name);
    if (write_of_wakes.seen) puts(write_of_wakes.name);
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        if (numbered[i].call.seen) puts(numbered[i].call.name);
    fflush(stdout);
}
