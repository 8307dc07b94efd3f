#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/// Whether the system can tell when a descriptor is ready: it cannot of what never makes one wait.
static inline bool can_wait_for(int descriptor) {
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {0};
    bool can = poll >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
    if (poll >= 0) close(poll);
    return can;
}

/// Whether a descriptor is to be watched that libuv hands to epoll only when it next waits.
static inline bool uv_has_unpolled_watchers(uv_loop_t *loop) {
    void **queue = (void **)&loop->watcher_queue;
    return queue[0] != queue;
}

/// The file that holds an address, and where that was loaded to. As `Dl_info`, which is a GNU extension.
struct loaded_file {
    const char *path;
    void *base;
    const char *symbol;
    void *address;
};

/// `dladdr`: zero if no file holds the address.
int find_loaded_file(const void *address, struct loaded_file *file) __asm__("dladdr");

/// Never called: its name is for a person. Not static, since only then the name can be found.
__attribute__((weak)) void call_detach_on_the_event_loop_and_wait_for_its_future(uv_handle_t *handle) {}

/// What Dispatch offers to run loops that drain its main queue: a descriptor that is readable when the queue has work,
/// and the call that does the work.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *unused);

/// What Swift's runtime calls, if it is set, on the main thread when the main task has suspended for the first time: an
/// asynchronous `main`, or top-level code that awaits. It must not return. NULL where the runtime does not have it.
typedef __attribute__((swiftcall)) void (*main_drain)(void);
extern __attribute__((swiftcall, weak)) void (*swift_task_asyncMainDrainQueue_hook)(main_drain original, main_drain unused);

/// What the hook calls, with what the runtime would have called.
static void (*drain_main_thread)(main_drain original) = NULL;

static __attribute__((swiftcall)) void drain_main_thread_by_hook(main_drain original, main_drain unused) {
    drain_main_thread(original);
}

enum drain_hook { DRAIN_HOOK_SET, DRAIN_HOOK_TAKEN, DRAIN_HOOK_MISSING };

static inline enum drain_hook hook_main_drain(void (*drain)(main_drain original)) {
    if (!&swift_task_asyncMainDrainQueue_hook) return DRAIN_HOOK_MISSING;
    if (swift_task_asyncMainDrainQueue_hook) return DRAIN_HOOK_TAKEN;
    drain_main_thread = drain;
    swift_task_asyncMainDrainQueue_hook = drain_main_thread_by_hook;
    return DRAIN_HOOK_SET;
}

static inline void call_main_drain(main_drain drain) {
    drain();
}

/// Blocks SIGPIPE on the calling thread, once: whoever lets it through again shall have it so.
static inline void block_broken_pipes(void) {
    static __thread bool has_been_blocked;
    if (has_been_blocked) return;
    has_been_blocked = true;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static inline void let_broken_pipes_through(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/// Takes what an eventfd counts, so that it is not readable any more.
static inline void empty_eventfd(int descriptor) {
    eventfd_t count;
    eventfd_read(descriptor, &count);
}

/// Cut off after 15 bytes.
static inline void set_thread_name(const char *name) {
    prctl(PR_SET_NAME, name);
}

/// An epoll set of descriptors whose hang-ups are of interest; negative if there is none to be had.
static inline int make_hang_up_set(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

/// Errors and hang-ups are told unasked, and each change of a descriptor once: a socket that has hung up since both
/// sides ended may still be reset.
static inline bool watch_for_hang_up(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLET, .data.fd = descriptor};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static inline void forget_hang_up(int set, int descriptor) {
    epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
}

/// A descriptor that has hung up or changed since it was returned; -1 if there is none.
static inline int next_hang_up(int set) {
    struct epoll_event event;
    return epoll_wait(set, &event, 1, 0) == 1 ? event.data.fd : -1;
}

/// Whether an epoll set watches what `descriptor` stands for, and not a file that had the same number before.
static inline bool is_watched(int set, int descriptor) {
    struct epoll_event event = {.events = 0};
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) < 0) return errno == EEXIST;
    epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
    return false;
}

/// How much of what was written to a TCP socket the peer's system has not acknowledged, an end included.
static inline int unacknowledged_bytes(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : 0;
}

int accept_with_flags(int listener, struct sockaddr *address, socklen_t *length, int flags) __asm__("accept4");

/// A connection that waits, as libuv wants its descriptors: they do not block, nor do other programs inherit them.
static inline int accept_socket(int listener, struct sockaddr *address, socklen_t *length) {
    return accept_with_flags(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// `O_PATH`: a file to be looked at and not to be read.
static const int open_for_path_only = 010000000;
/// `O_DIRECT`, a GNU extension: of a pipe, each write is a packet, and each read takes one.
static const int open_for_packets = __O_DIRECT;
