// A client that has one message under way at a time.

#include "atomics.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

void require(bool holds, const char *what) {
    if (holds) return;
    perror(what);
    exit(1);
}

int connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    require(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    return descriptor;
}

void round_trip(int descriptor) {
    char message[64] = {0};
    require(send(descriptor, message, sizeof message, MSG_NOSIGNAL) == sizeof message, "send");
    require(recv(descriptor, message, sizeof message, MSG_WAITALL) == sizeof message, "recv");
}

void short_connection(int port) {
    int descriptor = connect_to(port);
    round_trip(descriptor);
    shutdown(descriptor, SHUT_WR);
    char byte;
    require(recv(descriptor, &byte, 1, 0) == 0, "the server's end");
    close(descriptor);
}
