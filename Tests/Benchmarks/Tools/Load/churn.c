// Connections that carry one message each: connect, send, receive, say that this was all, wait for the server to say
// the same, and begin again. Of TLS, each has a handshake. Aborted ones are reset when their answer has come.

#include "load.h"

enum { EVENTS = 256 };

static void begin(connection_t *connection, int epoll) {
    uint64_t time = now();
    open_connection(connection, epoll);
    begin_message(connection, time);
    send_due(connection);
}

void run_churn(int epoll, connection_t *connections, long target) {
    struct epoll_event events[EVENTS];
    long begun = 0;
    for (; begun < connection_count && begun < target; begun++) begin(&connections[begun], epoll);
    for (long ended = 0; ended < target;) {
        int ready = wait_for_events(epoll, events, EVENTS);
        for (int i = 0; i < ready; i++) {
            connection_t *connection = events[i].data.ptr;
            uint64_t before = connection->echoed;
            send_due(connection);
            if (receive_echoes(connection)) {
                send_due(connection); // The handshake may have become complete.
                bool is_answered = before < connection->due && connection->echoed == connection->due;
                if (is_answered && !aborts) end_sending(connection);
                if (!is_answered || !aborts) continue;
            }
            require(connection->echoed == connection->due, "the server closed the connection");
            ended += count_answers(connection, 0);
            if (aborts) abort_connection(connection);
            else close_connection(connection);
            if (begun++ < target) begin(connection, epoll);
        }
    }
}
