// The floor to measure against: an echo server as one writes it on libuv in C. It reads into one shared
// buffer, tries to write at once, and copies only what the socket did not take.
//
// Usage: echo [PORT]; 0, the default, picks one.

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { BACKLOG = 4096, BUFFER_SIZE = 64 * 1024 };

typedef struct {
    uv_tcp_t tcp; // First, so that a pointer to the handle is a pointer to the connection.
    uv_shutdown_t shutdown;
    bool paused;
} connection_t;

typedef struct {
    uv_write_t request; // First, as above.
    char bytes[];
} unsent_t;

static char shared_buffer[BUFFER_SIZE];

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);

static void check(int status, const char *operation) {
    if (status == 0) return;
    fprintf(stderr, "%s: %s\n", operation, uv_strerror(status));
    exit(1);
}

static void on_buffer_needed(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(shared_buffer, sizeof shared_buffer);
}

static void on_closed(uv_handle_t *handle) { free(handle); }

static void close_stream(uv_stream_t *stream) {
    if (!uv_is_closing((uv_handle_t *)stream)) uv_close((uv_handle_t *)stream, on_closed);
}

static void on_shut_down(uv_shutdown_t *request, int status) { close_stream(request->handle); }

static void on_written(uv_write_t *request, int status) {
    connection_t *connection = (connection_t *)request->handle;
    free(request);
    if (status < 0) return close_stream((uv_stream_t *)connection);
    connection->paused = false;
    uv_read_start((uv_stream_t *)connection, on_buffer_needed, on_read);
}

// A peer that does not read is not read from either: at most one buffer waits for it.
static void write_rest(connection_t *connection, const char *bytes, size_t length) {
    uv_stream_t *stream = (uv_stream_t *)connection;
    unsent_t *unsent = malloc(sizeof *unsent + length);
    memcpy(unsent->bytes, bytes, length);
    uv_buf_t rest = uv_buf_init(unsent->bytes, length);
    connection->paused = true;
    uv_read_stop(stream);
    check(uv_write(&unsent->request, stream, &rest, 1, on_written), "write");
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    connection_t *connection = (connection_t *)stream;
    if (count == 0) return;
    if (count == UV_EOF && uv_shutdown(&connection->shutdown, stream, on_shut_down) == 0) return;
    if (count < 0) return close_stream(stream);

    uv_buf_t all = uv_buf_init(buffer->base, count);
    int written = uv_try_write(stream, &all, 1);
    if (written == UV_EAGAIN) written = 0;
    if (written < 0) return close_stream(stream);
    if (written < count) write_rest(connection, buffer->base + written, count - written);
}

static void on_connection(uv_stream_t *listener, int status) {
    check(status, "listen");
    connection_t *connection = calloc(1, sizeof *connection);
    check(uv_tcp_init(listener->loop, &connection->tcp), "init");
    uv_stream_t *stream = (uv_stream_t *)connection;
    if (uv_accept(listener, stream) != 0) return close_stream(stream);
    uv_tcp_nodelay(&connection->tcp, 1);
    check(uv_read_start(stream, on_buffer_needed, on_read), "read");
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    uv_loop_t *loop = uv_default_loop();
    uv_tcp_t listener;
    struct sockaddr_in address;
    check(uv_ip4_addr("127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, &address), "address");
    check(uv_tcp_init(loop, &listener), "init");
    check(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0), "bind");
    check(uv_listen((uv_stream_t *)&listener, BACKLOG, on_connection), "listen");

    int length = sizeof address;
    check(uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &length), "getsockname");
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
