// Counts the atomic operations of the loops of a `TCPServerGroup` that echoes, for each message and each connection.
//
// Usage: atomics PID PORT MESSAGES CONNECTIONS
// Prints a line for the messages, and one for the connections, of which each carries one message: how many atomic
// operations each takes, and how many of these were on memory on which another loop did some, too.

#include "atomics.h"
#include <stdlib.h>
#include <unistd.h>

enum { OPEN = 32 }; // Of so many, the system gives none to one of two loops in one of 10^9 runs.

int main(int argc, char **argv) {
    require(argc == 5, "usage: atomics PID PORT MESSAGES CONNECTIONS");
    int port = atoi(argv[2]), descriptors[OPEN];
    long messages = atol(argv[3]), connections = atol(argv[4]);
    for (int i = 0; i < OPEN; i++) {
        short_connection(port);
        descriptors[i] = connect_to(port);
        for (int warm_up = 0; warm_up < 3; warm_up++) round_trip(descriptors[i]);
    }
    seize_loops(atoi(argv[1]));
    pid_t client = fork();
    if (client == 0) {
        for (long i = 0; i < messages; i++) round_trip(descriptors[i % OPEN]);
        _exit(0);
    }
    step_until_end(client, "message", messages);
    client = fork();
    if (client == 0) {
        for (long i = 0; i < connections; i++) short_connection(port);
        _exit(0);
    }
    step_until_end(client, "connection", connections);
}
