#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

/// What the kernel calls by numbers that older headers lack, and `waitid` by a GNU extension.
enum {
    WAIT_FOR_ALL = 0x40000000,            // __WALL
    CALL_CLOSE_RANGE = 436,
    CALL_PIDFD_SEND_SIGNAL = 424,
    CALL_PIDFD_OPEN = 434,
    PIDFD_SIGNAL_GROUP = 4,               // PIDFD_SIGNAL_PROCESS_GROUP, since 6.9
    PIDFD_KNOWS_EXIT = 8,                 // PIDFD_INFO_EXIT, since 6.15
};

/// P_PID, P_PGID and P_PIDFD.
enum wait_kind { WAIT_BY_ID = 1, WAIT_BY_GROUP, WAIT_BY_PIDFD };

/// `struct pidfd_info`, since Linux 6.13; its last field since 6.15.
struct process_info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t status;
};

/// What a child has to do before its program runs, in the order of doing.
enum process_step {
    STEP_NONE,
    STEP_CLONE,
    STEP_SESSION,
    STEP_GROUP,
    STEP_TERMINAL,
    STEP_DESCRIPTORS,
    STEP_CLOSE,
    STEP_LIMIT,
    STEP_USER_GROUPS,
    STEP_GROUP_ID,
    STEP_USER_ID,
    STEP_DIRECTORY,
    STEP_EXECUTE,
};

struct process_limit {
    int resource;
    uint64_t soft, hard;
};

/// What is to be started. The child shares this memory with its parent until its program runs, so it reports a failure
/// here, and needs no pipe for that.
struct process_start {
    /// The paths to try, in this order. The last is followed by NULL, as the last of each list of strings.
    char *const *paths;
    char *const *arguments;
    char *const *environment;
    /// NULL to stay where the parent is.
    const char *directory;
    /// Descriptor `sources[i]` of the parent becomes `targets[i]` in the child. The targets rise; the child writes to
    /// the sources.
    int *sources;
    const int *targets;
    int count;
    /// A target that is to be the controlling terminal, or -1.
    int terminal;
    bool makes_session, makes_group, sets_mask, sets_user, sets_group, sets_groups;
    mode_t mask;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    int group_count;
    const struct process_limit *limits;
    int limit_count;

    /// What came of it: the process and a descriptor of it, or the step that failed, its error, and which of several.
    pid_t process;
    int descriptor;
    enum process_step failed_step;
    int error;
    int index;
};

// glibc's by other names: a header that this one includes would belong to this module in the eyes of the compiler, and no
// longer to Glibc.
void *map_memory(void *address, size_t size, int protection, int flags, int file, off_t offset) __asm__("mmap");
int unmap_memory(void *address, size_t size) __asm__("munmap");
enum { READ_AND_WRITE = 3, PRIVATE_STACK = 0x20022 };

// glibc's function by its other name: sanitizers put their own in the place of `clone`.
int clone_process(int (*body)(void *), void *stack, int flags, void *argument, int *descriptor) __asm__("__clone");

// The child runs what follows in its parent's memory, on a stack of its own, while the thread that made it waits. So it
// only makes calls of the system: no lock of libc's, no signal handler, and no wrapper such as `setuid`, which would
// make all threads of the parent change their user. Nothing here may be made to write elsewhere, either.
#define IN_CHILD static __attribute__((noinline, no_stack_protector, no_sanitize("address", "thread", "undefined")))

IN_CHILD void fail_in_child(struct process_start *start, enum process_step step, int index) {
    start->error = errno;
    start->index = index;
    start->failed_step = step;
    syscall(SYS_exit_group, 127);
}

/// Puts the descriptors where they are wanted, also where they change places, and closes all others.
IN_CHILD void place_descriptors(struct process_start *start) {
    int last = start->targets[start->count - 1];
    for (int i = 0; i < start->count; i++) {
        if (start->sources[i] > last) continue;
        long copy = syscall(SYS_fcntl, start->sources[i], F_DUPFD_CLOEXEC, last + 1);
        if (copy < 0) fail_in_child(start, STEP_DESCRIPTORS, i);
        start->sources[i] = copy;
    }
    for (int i = 0; i < start->count; i++)
        if (syscall(SYS_dup3, start->sources[i], start->targets[i], 0) < 0)
            fail_in_child(start, STEP_DESCRIPTORS, i);
    unsigned int free = 0;
    for (int i = 0; i <= start->count; i++) {
        unsigned int target = i < start->count ? (unsigned int)start->targets[i] : ~0U;
        if (target > free || i == start->count)
            if (syscall(CALL_CLOSE_RANGE, free, i < start->count ? target - 1 : target, 0) < 0)
                fail_in_child(start, STEP_CLOSE, i);
        free = target + 1;
    }
}

/// Whether all three ids that `call` reads are the `wanted` one. A call that sets them may return success and change
/// nothing: for the id that means "leave it", and in a sandbox that only pretends.
IN_CHILD bool has_ids(long call, uint32_t wanted) {
    uint32_t ids[3];
    if (syscall(call, &ids[0], &ids[1], &ids[2]) < 0) return false;
    errno = EPERM;
    return ids[0] == wanted && ids[1] == wanted && ids[2] == wanted;
}

IN_CHILD int run_child(void *argument) {
    struct process_start *start = argument;
    // As the kernel has it, which is not as libc has it.
    struct { void *handler; unsigned long flags; void *restorer; uint64_t mask; } effect = {0};
    for (int signal = 1; signal <= 64; signal++)
        if (signal != SIGKILL && signal != SIGSTOP) syscall(SYS_rt_sigaction, signal, &effect, NULL, sizeof effect.mask);
    if (start->makes_session && syscall(SYS_setsid) < 0) fail_in_child(start, STEP_SESSION, 0);
    if (start->makes_group && syscall(SYS_setpgid, 0, 0) < 0) fail_in_child(start, STEP_GROUP, 0);
    place_descriptors(start);
    if (start->terminal >= 0 && syscall(SYS_ioctl, start->terminal, TIOCSCTTY, 0) < 0)
        fail_in_child(start, STEP_TERMINAL, 0);
    if (start->sets_mask) syscall(SYS_umask, start->mask);
    for (int i = 0; i < start->limit_count; i++)
        if (syscall(SYS_prlimit64, 0, start->limits[i].resource, &start->limits[i].soft, NULL) < 0)
            fail_in_child(start, STEP_LIMIT, i);
    if (start->sets_groups && syscall(SYS_setgroups, start->group_count, start->groups) < 0)
        fail_in_child(start, STEP_USER_GROUPS, 0);
    errno = EPERM;
    if (start->sets_groups && syscall(SYS_getgroups, 0, NULL) != start->group_count)
        fail_in_child(start, STEP_USER_GROUPS, 0);
    if (start->sets_group && (syscall(SYS_setresgid, start->group, start->group, start->group) < 0
                              || !has_ids(SYS_getresgid, start->group)))
        fail_in_child(start, STEP_GROUP_ID, 0);
    if (start->sets_user && (syscall(SYS_setresuid, start->user, start->user, start->user) < 0
                             || !has_ids(SYS_getresuid, start->user)))
        fail_in_child(start, STEP_USER_ID, 0);
    if (start->directory && syscall(SYS_chdir, start->directory) < 0) fail_in_child(start, STEP_DIRECTORY, 0);
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    int error = ENOENT;
    for (int i = 0; start->paths[i]; i++) {
        syscall(SYS_execve, start->paths[i], start->arguments, start->environment);
        // As a shell does: where a program may not be executed, another one of its name may be.
        if (errno == EACCES) error = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT) {
            error = errno;
            break;
        }
    }
    errno = error;
    fail_in_child(start, STEP_EXECUTE, 0);
    return 0;
}

/// What `waitid` says of the process that `id` means in the way of `kind`: positive if it has ended and this call has
/// reaped it, zero if it runs, and below zero if it is no child of this process, or another has reaped it. With `WNOHANG`
/// the call does not wait, and with `WNOWAIT` it does not reap. The status is as `waitpid` gives it.
static inline int reap_process(enum wait_kind kind, int id, int options, int *status) {
    siginfo_t info;
    int result;
    info.si_pid = 0;
    do result = (int)syscall(SYS_waitid, kind, id, &info, WEXITED | WAIT_FOR_ALL | options, NULL);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    if (info.si_pid == 0) return 0;
    *status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8
                                         : info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
    return 1;
}

/// A descriptor of the process, or an error below zero.
static inline int open_process(int process) {
    int descriptor = (int)syscall(CALL_PIDFD_OPEN, process, 0);
    return descriptor < 0 ? -errno : descriptor;
}

/// Zero, or an error below zero.
static inline int adopt_orphans(bool adopts) {
    return prctl(PR_SET_CHILD_SUBREAPER, adopts) < 0 ? -errno : 0;
}

/// Whether others may look into the memory of this process.
static inline bool is_dumpable(void) {
    return prctl(PR_GET_DUMPABLE) == 1;
}

static inline void make_dumpable(void) {
    prctl(PR_SET_DUMPABLE, 1);
}

/// Starts a process, and returns when its program runs or has failed to. It was made without a signal at its end, which
/// only comes once its program runs: what has failed is nothing that a host could hear of or reap.
static inline bool start_process(struct process_start *start) {
    const size_t size = 65536;
    start->failed_step = STEP_CLONE;
    start->error = 0;
    char *stack = map_memory(NULL, size, READ_AND_WRITE, PRIVATE_STACK, -1, 0);
    if (stack == (char *)-1) {
        start->error = errno;
        return false;
    }
    uint64_t all = ~(uint64_t)0, before = 0;
    // Also the two that libc keeps from programs: its handlers must not run in the child.
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    start->failed_step = STEP_NONE;
    start->descriptor = -1;
    start->process = clone_process(run_child, stack + size, CLONE_VM | CLONE_VFORK | CLONE_PIDFD, start, &start->descriptor);
    if (start->process < 0) {
        start->error = errno;
        start->failed_step = STEP_CLONE;
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    unmap_memory(stack, size);
    if (start->failed_step == STEP_NONE) return true;
    // By its number, which no other has: as its end gives no signal, only who asks for it can reap it. An old kernel gives
    // no descriptor.
    if (start->process > 0) while (syscall(SYS_wait4, start->process, NULL, WAIT_FOR_ALL, NULL) < 0 && errno == EINTR) {}
    if (start->descriptor >= 0) close(start->descriptor);
    return false;
}

/// The status of a process that another has reaped: positive if the kernel knows it, zero if it will know it soon, and
/// below zero if it never will.
static inline int status_of_reaped(int descriptor, int *status) {
    struct process_info info = {.mask = PIDFD_KNOWS_EXIT};
    if (ioctl(descriptor, _IOWR(0xFF, 11, struct process_info), &info) < 0) return -errno;
    if (!(info.mask & PIDFD_KNOWS_EXIT)) return 0;
    *status = info.status;
    return 1;
}

/// Zero, or an error below zero. The group is the one that the process leads; before Linux 6.9, it cannot be meant so.
static inline int signal_process(int descriptor, int signal, bool group) {
    return syscall(CALL_PIDFD_SEND_SIGNAL, descriptor, signal, NULL, group ? PIDFD_SIGNAL_GROUP : 0) < 0 ? -errno : 0;
}

/// A new terminal, and the side of it that programs use.
static inline int open_terminal(int *program, unsigned short columns, unsigned short rows) {
    int person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (person < 0) return -errno;
    int lock = 0;
    struct winsize window = {.ws_col = columns, .ws_row = rows};
    *program = -1;
    if (ioctl(person, TIOCSPTLCK, &lock) == 0 && ioctl(person, TIOCSWINSZ, &window) == 0)
        *program = ioctl(person, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*program >= 0) return person;
    int error = errno;
    close(person);
    return -error;
}

static inline bool set_window_size(int terminal, unsigned short columns, unsigned short rows) {
    struct winsize window = {.ws_col = columns, .ws_row = rows};
    return ioctl(terminal, TIOCSWINSZ, &window) == 0;
}

extern char **environ;

static inline char **own_environment(void) {
    return environ;
}
