#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/// Whether the system can tell when a descriptor is ready: it cannot of what never makes one wait.
static inline bool can_wait_for(int descriptor) {
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {0};
    bool can = poll >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
    if (poll >= 0) close(poll);
    return can;
}

/// Takes what an eventfd counts, so that it is not readable any more.
static inline void empty_eventfd(int descriptor) {
    eventfd_t count;
    eventfd_read(descriptor, &count);
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

/// `pipe2`, a GNU extension: the two ends of a new pipe.
int open_pipe(int ends[2], int flags) __asm__("pipe2");
