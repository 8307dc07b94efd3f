// The floor for datagrams: an echo server on libuv's poll handle and recvmmsg, sendmmsg.
//
// Usage: datagrams [--single]; with --single it takes and sends one datagram with each call.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

enum { BATCH = 32, SIZE = 65536 + 4160, BUFFER = 2 * 1024 * 1024 };

static unsigned char bytes[BATCH][SIZE];
static struct sockaddr_in addresses[BATCH];
static struct iovec vectors[BATCH];
static struct mmsghdr messages[BATCH];
static int server;

static int check(int status, const char *operation) {
    if (status >= 0) return status;
    perror(operation);
    exit(1);
}

static void echo_batch(uv_poll_t *poll, int status, int events) {
    (void)poll, (void)status, (void)events;
    for (int i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){bytes[i], 65536};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &addresses[i], .msg_namelen = sizeof addresses[i], .msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    int count = recvmmsg(server, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count <= 0) return;
    for (int i = 0; i < count; i++) vectors[i].iov_len = messages[i].msg_len;
    for (int sent = 0; sent < count;) sent += check(sendmmsg(server, messages + sent, count - sent, 0), "sendmmsg");
}

static void echo_one(uv_poll_t *poll, int status, int events) {
    (void)poll, (void)status, (void)events;
    for (int i = 0; i < BATCH; i++) {
        socklen_t length = sizeof addresses[0];
        ssize_t count = recvfrom(server, bytes[0], 65536, MSG_DONTWAIT, (struct sockaddr *)&addresses[0], &length);
        if (count < 0) return;
        check(sendto(server, bytes[0], count, 0, (struct sockaddr *)&addresses[0], length), "sendto");
    }
}

int main(int argc, char **argv) {
    bool single = argc > 1 && strcmp(argv[1], "--single") == 0;
    server = check(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), "socket");
    int size = BUFFER;
    setsockopt(server, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    check(bind(server, (struct sockaddr *)&address, sizeof address), "bind");
    socklen_t length = sizeof address;
    getsockname(server, (struct sockaddr *)&address, &length);
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    uv_poll_t poll;
    uv_poll_init(uv_default_loop(), &poll, server);
    uv_poll_start(&poll, UV_READABLE, single ? echo_one : echo_batch);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
