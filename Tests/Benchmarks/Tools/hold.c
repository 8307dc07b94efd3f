// Opens connections to a server of this machine and holds them.
// usage: hold PORT COUNT [TRICKLE_MS]    says "open" when all are; each line on standard input is answered: "close" by
//        closing all at once and "closed", "echo" by a byte sent and received on each hundredth, and the most
//        microseconds that took. With TRICKLE_MS it sends an "x" on each connection so often, one after another, and
//        says each time how many are left open. It ends with its input.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int count = atoi(argv[2]), trickle = argc > 3 ? atoi(argv[3]) : 0;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int *sockets = calloc(count, sizeof(int));
    for (int i = 0; i < count; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (sockets[i] < 0 || connect(sockets[i], (struct sockaddr *)&address, sizeof address)) {
            fprintf(stderr, "connection %d: %s\n", i, strerror(errno));
            return 1;
        }
    }
    puts("open");
    fflush(stdout);
    int left = count, next = 0;
    double start = now();
    char line[64];
    struct pollfd input = {.fd = 0, .events = POLLIN};
    for (;;) {
        int ready = poll(&input, 1, trickle ? 1 : -1);
        if (ready == 0) {
            // As many as the time says.
            double due = (now() - start) / (trickle * 1e3) * count;
            for (; next < count && next < due; next++) {
                if (sockets[next] < 0) continue;
                char bytes[64];
                ssize_t came = recv(sockets[next], bytes, sizeof bytes, MSG_DONTWAIT);
                if (came == 0 || (came < 0 && errno != EAGAIN) || send(sockets[next], "x", 1, MSG_NOSIGNAL) != 1) {
                    close(sockets[next]);
                    sockets[next] = -1;
                    left--;
                }
            }
            if (next < count) continue;
            next = 0;
            start += trickle * 1e3;
            printf("%d left\n", left);
            fflush(stdout);
            continue;
        }
        if (!fgets(line, sizeof line, stdin)) return 0;
        if (!strcmp(line, "close\n")) {
            for (int i = 0; i < count; i++) {
                if (sockets[i] >= 0) close(sockets[i]);
                sockets[i] = -1;
            }
            left = trickle = 0;
            puts("closed");
        } else {
            double most = 0;
            for (int i = 0; i < count; i += 100) {
                char byte;
                double sent = now();
                if (send(sockets[i], "x", 1, MSG_NOSIGNAL) != 1 || recv(sockets[i], &byte, 1, 0) != 1) return 1;
                if (now() - sent > most) most = now() - sent;
            }
            printf("echo %.0f\n", most);
        }
        fflush(stdout);
    }
}
