// The load generator: N connections to an echo server on loopback, each with DEPTH messages of SIZE bytes in
// flight, until ROUND-TRIPS messages came back, every byte of them checked. Prints one line of JSON.
//
// Usage: load --port PORT [--connections N] [--size BYTES] [--depth N] [--round-trips N] [--server-pid PID]
//
// With the server's process id it also reports the CPU nanoseconds that the server spent per round trip.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, PERIOD = 65537, WARM_UP = 2000, GIVE_UP_SECONDS = 20 };

typedef struct {
    int descriptor;
    uint64_t offset;            // where in the pattern this connection's stream begins
    uint64_t due, sent, echoed; // bytes: to send by now, sent, came back and were right
    uint64_t *began;            // when each message in flight was handed over for sending
} connection_t;

static long port, connection_count = 50, size = 64, depth = 1, round_trips = 100000, server_pid;

// Random bytes, PERIOD of them over and over. A connection's stream is the pattern from its offset on, so
// that a byte lost, repeated, reordered or from another connection shows.
static unsigned char pattern[PERIOD + CHUNK];
static unsigned char received[CHUNK];

static long begun, ended; // messages of the phase under way
static uint32_t *latencies;

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static void check(ssize_t status, const char *operation) {
    if (status >= 0) return;
    fprintf(stderr, "load: %s: %s\n", operation, strerror(errno));
    exit(1);
}

static uint64_t now(clockid_t clock) {
    struct timespec time;
    check(clock_gettime(clock, &time), "clock_gettime");
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static size_t at_most_chunk(uint64_t length) { return length < CHUNK ? length : CHUNK; }

static const unsigned char *stream_at(const connection_t *connection, uint64_t position) {
    return pattern + (connection->offset + position) % PERIOD;
}

static void begin_messages(connection_t *connection, long count, long target) {
    uint64_t time = now(CLOCK_MONOTONIC);
    for (; count > 0 && begun < target; count--, begun++) {
        connection->began[connection->due / size % depth] = time;
        connection->due += size;
    }
}

static void send_due(connection_t *connection) {
    while (connection->sent < connection->due) {
        size_t length = at_most_chunk(connection->due - connection->sent);
        const unsigned char *bytes = stream_at(connection, connection->sent);
        ssize_t count = send(connection->descriptor, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) return;
        check(count, "send");
        connection->sent += count;
    }
}

// Returns how many messages came back whole.
static long receive_echoes(connection_t *connection) {
    uint64_t before = connection->echoed / size;
    for (ssize_t count = CHUNK; count == CHUNK;) {
        count = recv(connection->descriptor, received, CHUNK, 0);
        if (count < 0 && errno == EAGAIN) break;
        check(count, "recv");
        require(count > 0, "the server closed the connection");
        require(connection->echoed + count <= connection->sent, "more came back than was sent");
        const unsigned char *expected = stream_at(connection, connection->echoed);
        require(memcmp(received, expected, count) == 0, "wrong bytes came back");
        connection->echoed += count;
    }
    uint64_t after = connection->echoed / size, time = now(CLOCK_MONOTONIC);
    for (uint64_t message = before; message < after; message++)
        latencies[ended++] = time - connection->began[message % depth];
    return after - before;
}

static void run_round_trips(int epoll, connection_t *connections, long target) {
    struct epoll_event events[256];
    begun = ended = 0;
    for (long i = 0; i < connection_count; i++) {
        begin_messages(&connections[i], depth, target);
        send_due(&connections[i]);
    }
    while (ended < target) {
        int count = epoll_wait(epoll, events, 256, GIVE_UP_SECONDS * 1000);
        check(count, "epoll_wait");
        require(count > 0, "the server stopped answering");
        for (int i = 0; i < count; i++) {
            connection_t *connection = events[i].data.ptr;
            begin_messages(connection, receive_echoes(connection), target);
            send_due(connection);
        }
    }
}

static void open_connection(connection_t *connection, int epoll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(descriptor, (struct sockaddr *)&address, sizeof address), "connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct timeval patience = {.tv_sec = GIVE_UP_SECONDS};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLET, {.ptr = connection}};
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
    *connection = (connection_t){descriptor, .offset = rand(), .began = calloc(depth, sizeof(uint64_t))};
}

// Says that no more will come, and waits for the server to say the same.
static void finish_connection(const connection_t *connection) {
    fcntl(connection->descriptor, F_SETFL, 0);
    shutdown(connection->descriptor, SHUT_WR);
    require(recv(connection->descriptor, received, 1, 0) == 0, "no end of stream after a half close");
    close(connection->descriptor);
}

static void read_options(int argc, char **argv) {
    static const struct option names[] = {
        {"port", required_argument, NULL, 0},        {"connections", required_argument, NULL, 1},
        {"size", required_argument, NULL, 2},        {"depth", required_argument, NULL, 3},
        {"round-trips", required_argument, NULL, 4}, {"server-pid", required_argument, NULL, 5},
        {0},
    };
    long *const values[] = {&port, &connection_count, &size, &depth, &round_trips, &server_pid};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == '?') exit(2);
        *values[option] = atol(optarg);
        require(*values[option] > 0, "an option needs a positive number");
    }
    require(port > 0, "--port is missing");
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double percentile(int percent) { return latencies[(ended - 1) * percent / 100] / 1e3; }

int main(int argc, char **argv) {
    read_options(argc, argv);
    for (long i = 0; i < PERIOD; i++) pattern[i] = rand();
    for (long i = PERIOD; i < PERIOD + CHUNK; i++) pattern[i] = pattern[i - PERIOD];
    latencies = malloc((round_trips + WARM_UP) * sizeof *latencies);

    int epoll = epoll_create1(0);
    connection_t *connections = calloc(connection_count, sizeof *connections);
    for (long i = 0; i < connection_count; i++) open_connection(&connections[i], epoll);

    clockid_t server_clock = 0;
    if (server_pid) require(clock_getcpuclockid(server_pid, &server_clock) == 0, "no such server process");

    run_round_trips(epoll, connections, WARM_UP);
    uint64_t cpu_before = server_pid ? now(server_clock) : 0, before = now(CLOCK_MONOTONIC);
    run_round_trips(epoll, connections, round_trips);
    double elapsed = (now(CLOCK_MONOTONIC) - before) / 1e9;
    double cpu = server_pid ? (double)(now(server_clock) - cpu_before) / round_trips : 0;

    for (long i = 0; i < connection_count; i++) finish_connection(&connections[i]);
    qsort(latencies, ended, sizeof *latencies, by_size);
    printf("{\"connections\":%ld,\"size\":%ld,\"depth\":%ld,\"roundTrips\":%ld,\"seconds\":%.3f,",
           connection_count, size, depth, round_trips, elapsed);
    if (server_pid) printf("\"cpuNanoseconds\":%.0f,", cpu);
    printf("\"perSecond\":%.0f,\"p50Microseconds\":%.1f,\"p99Microseconds\":%.1f}\n", round_trips / elapsed,
           percentile(50), percentile(99));
}
