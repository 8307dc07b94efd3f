// The receiver of copies, and what a sender in C takes: `files sink`, `files pieces FILE PORT`, `files sendfile FILE PORT`.
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 20];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static long processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void sink(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&address, length) || listen(listener, 16)) die("listen");
    getsockname(listener, (void *)&address, &length);
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) die("accept");
        while (read(connection, buffer, sizeof buffer) > 0) continue;
        close(connection);
    }
}

int main(int count, char **arguments) {
    if (count == 2 && !strcmp(arguments[1], "sink")) sink();
    if (count != 4) return 2;
    int file = open(arguments[2], O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status)) die(arguments[2]);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(atoi(arguments[3]))};
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (void *)&address, sizeof address)) die("connect");
    long start = processor_time();
    off_t offset = 0;
    while (offset < status.st_size) {
        if (!strcmp(arguments[1], "sendfile")) {
            if (sendfile(connection, file, &offset, status.st_size - offset) <= 0) die("sendfile");
        } else {
            ssize_t size = pread(file, buffer, 65536, offset);
            if (size <= 0 || write(connection, buffer, size) != size) die("pieces");
            offset += size;
        }
    }
    close(connection);
    printf("%ld\n", processor_time() - start);
}
