// The floor below libuv: an echo server on nothing but epoll, level-triggered. It reads into one shared buffer, writes
// at once, and copies only what the socket did not take.
//
// Usage: epoll [PORT]; 0, the default, picks one.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, BUFFER_SIZE = 256 * 1024, EVENTS = 1024 };

typedef struct {
    int descriptor;
    char *unsent; // What waits for the socket, which is not read from meanwhile.
    size_t begin, end;
} connection_t;

static char shared_buffer[BUFFER_SIZE];
static int epoll;

static int check(int status, const char *operation) {
    if (status >= 0) return status;
    perror(operation);
    exit(1);
}

static void wait_for(connection_t *connection, int operation, uint32_t events) {
    struct epoll_event event = {events, {.ptr = connection}};
    check(epoll_ctl(epoll, operation, connection->descriptor, &event), "epoll_ctl");
}

static void close_connection(connection_t *connection) {
    close(connection->descriptor);
    free(connection->unsent);
    free(connection);
}

// Returns how much the socket took, or -1 if it is broken.
static ssize_t write_some(connection_t *connection, const char *bytes, size_t length) {
    ssize_t count = write(connection->descriptor, bytes, length);
    return count < 0 && errno == EAGAIN ? 0 : count;
}

static void keep_rest(connection_t *connection, const char *bytes, size_t length) {
    connection->unsent = malloc(length);
    memcpy(connection->unsent, bytes, length);
    connection->begin = 0;
    connection->end = length;
    wait_for(connection, EPOLL_CTL_MOD, EPOLLOUT);
}

static void on_readable(connection_t *connection) {
    ssize_t count = read(connection->descriptor, shared_buffer, BUFFER_SIZE);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return close_connection(connection);
    ssize_t written = write_some(connection, shared_buffer, count);
    if (written < 0) return close_connection(connection);
    if (written < count) keep_rest(connection, shared_buffer + written, count - written);
}

static void on_writable(connection_t *connection) {
    ssize_t written =
        write_some(connection, connection->unsent + connection->begin, connection->end - connection->begin);
    if (written < 0) return close_connection(connection);
    connection->begin += written;
    if (connection->begin < connection->end) return;
    free(connection->unsent);
    connection->unsent = NULL;
    wait_for(connection, EPOLL_CTL_MOD, EPOLLIN);
}

static void accept_all(int listener) {
    for (int descriptor; (descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        connection_t *connection = calloc(1, sizeof *connection);
        connection->descriptor = descriptor;
        wait_for(connection, EPOLL_CTL_ADD, EPOLLIN);
    }
    if (errno != EAGAIN && errno != ECONNABORTED) check(-1, "accept");
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    int listener = check(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(bind(listener, (struct sockaddr *)&address, sizeof address), "bind");
    check(listen(listener, BACKLOG), "listen");
    socklen_t length = sizeof address;
    check(getsockname(listener, (struct sockaddr *)&address, &length), "getsockname");
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);

    epoll = check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    connection_t listening = {.descriptor = listener};
    wait_for(&listening, EPOLL_CTL_ADD, EPOLLIN);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) check(count, "epoll_wait");
        for (int i = 0; i < count; i++) {
            connection_t *connection = events[i].data.ptr;
            if (connection == &listening) accept_all(listener);
            else if (connection->unsent) on_writable(connection);
            else on_readable(connection);
        }
    }
}
