// A connection's stream is the pattern from the connection's offset on, so that a byte lost, repeated, reordered or
// from another connection shows.

#include "load.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, PERIOD = 65537, PATIENCE_SECONDS = 20 };

static unsigned char *pattern; // random bytes, so many of them over and over:
static long period = PERIOD;
static unsigned char received[CHUNK];

void make_pattern(void) {
    // A message begins where a line does.
    if (lines) period = (PERIOD / size + 1) * size;
    pattern = malloc(period + CHUNK);
    for (long i = 0; i < period; i++) {
        pattern[i] = rand();
        if (!lines) continue;
        if (i % size == size - 1) pattern[i] = '\n';
        else if (pattern[i] == '\n' || pattern[i] == '\r') pattern[i] = ' ';
    }
    for (long i = period; i < period + CHUNK; i++) pattern[i] = pattern[i - period];
}

static const unsigned char *stream_at(const connection_t *connection, uint64_t position) {
    return pattern + (connection->offset + position) % period;
}

void open_connection(connection_t *connection, int epoll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    check(connect(descriptor, (struct sockaddr *)&address, sizeof address), "connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    check(fcntl(descriptor, F_SETFL, O_NONBLOCK), "fcntl");
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLET, {.ptr = connection}};
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
    uint64_t offset = lines ? rand() % (period / size) * size : rand();
    *connection = (connection_t){descriptor, .offset = offset, .began = calloc(depth, sizeof(uint64_t))};
    if (tls) connection->session = begin_encryption(descriptor);
}

void begin_message(connection_t *connection, uint64_t time) {
    connection->began[connection->due / size % depth] = time;
    connection->due += size;
}

static ssize_t send_some(const connection_t *connection, const void *bytes, size_t count) {
    if (connection->session) return send_encrypted(connection, bytes, count);
    return send(connection->descriptor, bytes, count, MSG_NOSIGNAL);
}

static ssize_t receive_some(const connection_t *connection, void *bytes, size_t count) {
    if (connection->session) return receive_encrypted(connection, bytes, count);
    return recv(connection->descriptor, bytes, count, 0);
}

void send_due(connection_t *connection) {
    while (connection->sent < connection->due) {
        uint64_t length = connection->due - connection->sent;
        const unsigned char *bytes = stream_at(connection, connection->sent);
        ssize_t count = send_some(connection, bytes, length < CHUNK ? length : CHUNK);
        if (count < 0 && errno == EAGAIN) return;
        connection->sent += check(count, "send");
    }
}

bool receive_echoes(connection_t *connection) {
    // Of TLS, a record at most comes at a time.
    for (ssize_t count = CHUNK; count == CHUNK || connection->session;) {
        count = receive_some(connection, received, CHUNK);
        if (count < 0 && errno == EAGAIN) break;
        if (check(count, "recv") == 0) return false;
        require(connection->echoed + count <= connection->sent, "more came back than was sent");
        const unsigned char *expected = stream_at(connection, connection->echoed);
        require(memcmp(received, expected, count) == 0, "wrong bytes came back");
        connection->echoed += count;
    }
    return true;
}

long count_answers(const connection_t *connection, uint64_t before) {
    uint64_t first = before / size, end = connection->echoed / size, time = now();
    for (uint64_t message = first; message < end; message++) add_latency(time - connection->began[message % depth]);
    return end - first;
}

void end_sending(const connection_t *connection) {
    if (connection->session) return end_encryption(connection);
    check(shutdown(connection->descriptor, SHUT_WR), "shutdown");
}

void close_connection(connection_t *connection) {
    if (connection->session) free_encryption(connection);
    close(connection->descriptor);
    free(connection->began);
}

void abort_connection(connection_t *connection) {
    struct linger now = {.l_onoff = 1};
    check(setsockopt(connection->descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now), "linger");
    close_connection(connection);
}
