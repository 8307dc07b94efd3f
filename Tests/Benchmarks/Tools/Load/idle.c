// Connections that stay open and do nothing, each after one round trip, and the server's memory for them.

#include "load.h"
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 100 }; // So many come before the server's memory is looked at: it sets up what it needs but once.

void run_idle(int epoll) {
    connection_t *connections = calloc(FIRST + connection_count, sizeof *connections);
    for (long i = 0; i < FIRST; i++) open_connection(&connections[i], epoll);
    run_round_trips(epoll, connections, FIRST, FIRST);
    uint64_t before = server_memory();
    for (long i = 0; i < connection_count; i++) open_connection(&connections[FIRST + i], epoll);
    run_round_trips(epoll, connections + FIRST, connection_count, connection_count);
    double grown = (double)server_memory() - (double)before;
    printf("{\"connections\":%ld,\"bytesPerConnection\":%.0f}\n", connection_count, grown / connection_count);
    fflush(stdout);
    while (getchar() != EOF) {}
}
