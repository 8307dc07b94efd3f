// Connections that stay open, each with so many messages in flight as the depth says.

#include "load.h"

enum { GIVE_UP_SECONDS = 20, EVENTS = 256 };

int wait_for_events(int epoll, struct epoll_event *events, int limit) {
    int count = check(epoll_wait(epoll, events, limit, GIVE_UP_SECONDS * 1000), "epoll_wait");
    require(count > 0, "the server stopped answering");
    return count;
}

static long begun; // messages

static void begin_messages(connection_t *connection, long count, long target) {
    uint64_t time = now();
    for (; count > 0 && begun < target; count--, begun++) begin_message(connection, time);
    send_due(connection);
}

void run_round_trips(int epoll, connection_t *connections, long count, long target) {
    struct epoll_event events[EVENTS];
    begun = 0;
    for (long i = 0; i < count; i++) begin_messages(&connections[i], depth, target);
    for (long ended = 0; ended < target;) {
        int ready = wait_for_events(epoll, events, EVENTS);
        for (int i = 0; i < ready; i++) {
            connection_t *connection = events[i].data.ptr;
            uint64_t before = connection->echoed;
            require(receive_echoes(connection), "the server closed the connection");
            long answered = count_answers(connection, before);
            ended += answered;
            begin_messages(connection, answered, target);
        }
    }
}
