// Many handshakes that begin at once, and what another peer of the server, which speaks no TLS, notices of them. That peer is
// a process of its own, and sends a message each millisecond, whether the last one was answered or not: a message is late
// from when it was due.

#define _GNU_SOURCE
#include "load.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 256, HELLO = 2048, MESSAGE = 64, LAPS = 65536, NANOSECONDS = 1000000 };

// What the two processes share.
typedef struct {
    atomic_bool counts, ends;
    atomic_long sent, answered;
    double p50, p99, p100;
} shared_t;

static void probe(shared_t *shared, connection_t *connection) {
    static uint64_t due[LAPS];
    static bool counted[LAPS];
    char bytes[MESSAGE * 64];
    long sent = 0, received = 0;
    for (uint64_t next = now(); !shared->ends;) {
        if (now() >= next) {
            require(sent - received / MESSAGE < LAPS, "the server does not answer the plain peer");
            due[sent % LAPS] = next;
            counted[sent % LAPS] = shared->counts;
            ssize_t count = send(connection->descriptor, bytes, MESSAGE, MSG_NOSIGNAL);
            require(count == MESSAGE, "a message of the plain peer does not leave");
            atomic_store(&shared->sent, ++sent);
            next += NANOSECONDS;
        }
        struct pollfd ready = {connection->descriptor, POLLIN, 0};
        int64_t left = next - now();
        struct timespec wait = {.tv_nsec = left > 0 ? left : 0};
        if (check(ppoll(&ready, 1, &wait, NULL), "poll") == 0) continue;
        ssize_t count = check(recv(connection->descriptor, bytes, sizeof bytes, 0), "recv");
        require(count > 0, "the server closed the plain peer's connection");
        uint64_t time = now();
        for (long message = received / MESSAGE; message < (received + count) / MESSAGE; message++) {
            if (counted[message % LAPS]) add_latency(time - due[message % LAPS]);
        }
        received += count;
        atomic_store(&shared->answered, received / MESSAGE);
    }
    shared->p50 = latency_microseconds(50);
    shared->p99 = latency_microseconds(99);
    shared->p100 = latency_microseconds(100);
}

static pid_t start_probe(shared_t *shared, long plain_port) {
    connection_t connection;
    long encrypted_port = port;
    int was_encrypted = tls, epoll = check(epoll_create1(0), "epoll_create1");
    port = plain_port;
    tls = 0;
    open_connection(&connection, epoll);
    port = encrypted_port;
    tls = was_encrypted;
    pid_t child = check(fork(), "fork");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It is not to wait for the process that makes handshakes, where that is permitted.
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 60});
    probe(shared, &connection);
    exit(0);
}

// One burst, from the first message of all clients until each handshake is complete.
static void run_once(int epoll, shared_t *shared, connection_t *connections) {
    char *bytes = calloc(connection_count, HELLO);
    size_t *sizes = calloc(connection_count, sizeof *sizes);
    bool *completed = calloc(connection_count, sizeof *completed);
    for (long i = 0; i < connection_count; i++) {
        open_connection(&connections[i], epoll);
        sizes[i] = prepare_handshake(&connections[i], bytes + i * HELLO, HELLO);
    }
    shared->counts = true;
    for (long i = 0; i < connection_count; i++) {
        ssize_t count = send(connections[i].descriptor, bytes + i * HELLO, sizes[i], MSG_NOSIGNAL);
        require(count == (ssize_t)sizes[i], "a first message does not leave");
    }
    struct epoll_event events[EVENTS];
    for (long left = connection_count; left > 0;) {
        int ready = wait_for_events(epoll, events, EVENTS);
        for (int i = 0; i < ready; i++) {
            connection_t *connection = events[i].data.ptr;
            long number = connection - connections;
            if (completed[number] || !shake_hands(connection)) continue;
            completed[number] = true;
            left--;
        }
    }
    shared->counts = false;
    // What was due by now is answered, too.
    for (long sent = shared->sent; shared->answered < sent;) usleep(1000);
    for (long i = 0; i < connection_count; i++) abort_connection(&connections[i]);
    free(bytes);
    free(sizes);
    free(completed);
}

void run_burst(int epoll, long plain_port, long bursts) {
    shared_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED, "no memory");
    connection_t *connections = calloc(connection_count, sizeof *connections);
    pid_t child = start_probe(shared, plain_port);
    run_once(epoll, &(shared_t){0}, connections); // to warm up
    uint64_t before = now();
    for (long i = 0; i < bursts; i++) run_once(epoll, shared, connections);
    double seconds = (now() - before) / 1e9;
    shared->ends = true;
    int status;
    check(waitpid(child, &status, 0), "waitpid");
    require(status == 0, "the plain peer has failed");
    printf("{\"connections\":%ld,\"bursts\":%ld,\"seconds\":%.3f,\"p50Microseconds\":%.1f,\"p99Microseconds\":%.1f,"
           "\"worstMicroseconds\":%.1f}\n",
           connection_count, bursts, seconds, shared->p50, shared->p99, shared->p100);
}
