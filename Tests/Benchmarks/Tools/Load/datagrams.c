// Sockets for datagrams, each with so many in flight as the depth says. What does not come back within a pause is lost,
// and sent again.

#include "load.h"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { EVENTS = 256, BATCH = 16, PAUSE_MILLISECONDS = 20, GIVE_UP = 500, MOST = 65536 };

typedef struct {
    int descriptor;
    long in_flight;
} peer_t;

typedef struct {
    uint64_t sent_at, number;
} stamp_t;

static unsigned char outgoing[MOST];

static peer_t *open_peers(int epoll) {
    peer_t *peers = calloc(connection_count, sizeof *peers);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (long i = 0; i < connection_count; i++) {
        peers[i].descriptor = check(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), "socket");
        check(connect(peers[i].descriptor, (struct sockaddr *)&address, sizeof address), "connect");
        struct epoll_event event = {EPOLLIN, {.ptr = &peers[i]}};
        check(epoll_ctl(epoll, EPOLL_CTL_ADD, peers[i].descriptor, &event), "epoll_ctl");
    }
    return peers;
}

static long begun;

static void begin(peer_t *peer, long count, long target) {
    for (; count > 0 && begun < target; count--, begun++) {
        stamp_t stamp = {now(), begun};
        memcpy(outgoing, &stamp, sizeof stamp);
        if (send(peer->descriptor, outgoing, size, 0) != size) return;
        peer->in_flight++;
    }
}

// How many came back to a peer.
static long take(peer_t *peer) {
    static unsigned char incoming[MOST];
    long count = 0;
    for (ssize_t length; (length = recv(peer->descriptor, incoming, sizeof incoming, 0)) >= 0; count++) {
        stamp_t stamp;
        require(length == size, "a datagram came back with another size");
        memcpy(&stamp, incoming, sizeof stamp);
        require(memcmp(incoming + sizeof stamp, outgoing + sizeof stamp, size - sizeof stamp) == 0, "other bytes");
        add_latency(now() - stamp.sent_at);
    }
    if (peer->in_flight > 0) peer->in_flight -= count < peer->in_flight ? count : peer->in_flight;
    return count;
}

static void run(int epoll, peer_t *peers, long target) {
    struct epoll_event events[EVENTS];
    int silent = 0;
    begun = 0;
    for (long i = 0; i < connection_count; i++) begin(&peers[i], depth, target);
    for (long ended = 0; ended < target;) {
        int ready = check(epoll_wait(epoll, events, EVENTS, PAUSE_MILLISECONDS), "epoll_wait");
        if (ready == 0) {
            require(++silent < GIVE_UP, "the server stopped answering");
            begun = ended;
            for (long i = 0; i < connection_count; i++) {
                peers[i].in_flight = 0;
                begin(&peers[i], depth, target);
            }
            continue;
        }
        for (int i = 0; i < ready; i++) {
            peer_t *peer = events[i].data.ptr;
            long count = take(peer);
            ended += count;
            begin(peer, count, target);
        }
    }
}

void run_datagrams(int epoll, long target) {
    static peer_t *peers;
    require(size >= (long)sizeof(stamp_t) && size <= 65507, "datagrams have 16 to 65507 bytes");
    if (!peers) peers = open_peers(epoll);
    memset(outgoing, 7, sizeof outgoing);
    run(epoll, peers, target);
}
