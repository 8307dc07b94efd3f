// The floor to measure WebServer against: an HTTP/1.1 server as one writes it on libuv in C. A parser written by hand checks
// each byte of a head and looks for what frames the message, and all answers to one read leave in one write.
//
// GET /hello and GET /bytes/N, with or without a body, with the fields that WebServer sends. Usage: http [PORT]; 0, the
// default, picks one.

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <uv.h>

enum { BACKLOG = 4096, BUFFER_SIZE = 64 * 1024, HEAD_LIMIT = 32 * 1024, FIELD_LIMIT = 100, BODY_LIMIT = 1 << 20 };

typedef struct {
    uv_tcp_t tcp; // First, so that a pointer to the handle is a pointer to the connection.
    char *held;   // The beginning of a request that is not complete.
    size_t held_count;
    long body_left;
    bool closes;
} connection_t;

typedef struct {
    uv_write_t request; // First, as above.
    char bytes[];
} unsent_t;

typedef struct {
    const char *method, *target;
    size_t method_length, target_length;
    bool is_11, has_host, closes, keeps_alive, is_chunked, has_length;
    long length;
    int fields;
} request_t;

static char shared_buffer[BUFFER_SIZE], out[4 << 20], filler[1 << 20];
static size_t out_count;
static bool is_token[256], is_target[256], is_value[256], is_host[256];

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);

static void check(int status, const char *operation) {
    if (status == 0) return;
    fprintf(stderr, "%s: %s\n", operation, uv_strerror(status));
    exit(1);
}

static void fill_tables(void) {
    for (int byte = 1; byte < 256; byte++) {
        is_token[byte] = byte < 128 && (isalnum(byte) || strchr("!#$%&'*+-.^_`|~", byte));
        is_target[byte] = byte > 32 && byte < 127 && byte != '#';
        is_value[byte] = byte == 9 || (byte >= 32 && byte != 127);
        is_host[byte] = byte < 128 && (isalnum(byte) || strchr("-._~!$&'()*+,;=%:[]", byte));
    }
    memset(filler, 'x', sizeof filler);
}

static bool is_named(const char *name, size_t length, const char *expected) {
    return length == strlen(expected) && strncasecmp(name, expected, length) == 0;
}

// Takes note of a field that frames the message. Returns false if the request is to be refused.
static bool note_field(request_t *request, const char *name, size_t name_length, const char *value, size_t length) {
    if (++request->fields > FIELD_LIMIT) return false;
    if (is_named(name, name_length, "host")) {
        if (request->has_host) return false;
        for (size_t i = 0; i < length; i++)
            if (!is_host[(unsigned char)value[i]]) return false;
        return request->has_host = true;
    }
    if (is_named(name, name_length, "connection")) {
        if (is_named(value, length, "close")) request->closes = true;
        if (is_named(value, length, "keep-alive")) request->keeps_alive = true;
    } else if (is_named(name, name_length, "content-length")) {
        if (request->has_length || length == 0 || length > 18) return false;
        for (size_t i = 0; i < length; i++) {
            if (value[i] < '0' || value[i] > '9') return false;
            request->length = request->length * 10 + value[i] - '0';
        }
        request->has_length = true;
    } else if (is_named(name, name_length, "transfer-encoding")) {
        request->is_chunked = true;
    }
    return true;
}

// Reads a head. Returns its length, 0 if it is not complete, or -1 if it is to be refused.
static long parse(const char *bytes, size_t count, request_t *request) {
    const unsigned char *at = (const unsigned char *)bytes, *end = at + count;
    const unsigned char *start = at;
    while (at < end && is_token[*at]) at++;
    if (at == end) return 0;
    if (at == start || *at != ' ') return -1;
    request->method = (const char *)start, request->method_length = at - start;
    start = ++at;
    while (at < end && is_target[*at]) at++;
    if (at == end) return 0;
    if (at == start || *at != ' ') return -1;
    request->target = (const char *)start, request->target_length = at - start;
    at++;
    if (end - at < 10) return 0;
    if (memcmp(at, "HTTP/1.", 7) != 0 || (at[7] != '0' && at[7] != '1') || at[8] != '\r' || at[9] != '\n') return -1;
    request->is_11 = at[7] == '1';
    for (at += 10;;) {
        if (end - at < 2) return 0;
        if (*at == '\r') return at[1] == '\n' ? (const char *)at + 2 - bytes : -1;
        start = at;
        while (at < end && is_token[*at]) at++;
        if (at == end) return 0;
        if (at == start || *at != ':') return -1;
        const unsigned char *name_end = at++;
        while (at < end && (*at == ' ' || *at == '\t')) at++;
        const unsigned char *value = at;
        while (at < end && is_value[*at]) at++;
        if (end - at < 2) return 0;
        if (at[0] != '\r' || at[1] != '\n') return -1;
        const unsigned char *value_end = at;
        while (value_end > value && (value_end[-1] == ' ' || value_end[-1] == '\t')) value_end--;
        if (!note_field(request, (const char *)start, name_end - start, (const char *)value, value_end - value)) return -1;
        at += 2;
    }
}

static const char *date_line(uv_loop_t *loop) {
    static char line[64];
    static uint64_t ends;
    if (uv_now(loop) >= ends) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        strftime(line, sizeof line, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime(&now.tv_sec));
        ends = uv_now(loop) + 1000 - now.tv_nsec / 1000000;
    }
    return line;
}

static void add(const char *bytes, size_t count) {
    memcpy(out + out_count, bytes, count);
    out_count += count;
}

static void answer(uv_loop_t *loop, const char *status, const char *type, const char *body, size_t count, bool closes) {
    char length[32];
    add("HTTP/1.1 ", 9);
    add(status, strlen(status));
    add("\r\n", 2);
    const char *date = date_line(loop);
    add(date, strlen(date));
    add("Content-Type: ", 14);
    add(type, strlen(type));
    add("\r\n", 2);
    if (closes) add("Connection: close\r\n", 19);
    char *digit = length + sizeof length;
    size_t rest = count;
    do *--digit = '0' + rest % 10;
    while (rest /= 10);
    add("Content-Length: ", 16);
    add(digit, length + sizeof length - digit);
    add("\r\n\r\n", 4);
    add(body, count);
}

static void route(uv_loop_t *loop, const request_t *request, bool closes) {
    static const char hello[] = "Hello, world!\n", missing[] = "there is nothing at this path\n";
    const char *target = request->target;
    if (request->target_length == 6 && memcmp(target, "/hello", 6) == 0)
        return answer(loop, "200 OK", "text/plain", hello, sizeof hello - 1, closes);
    if (request->target_length > 7 && memcmp(target, "/bytes/", 7) == 0) {
        size_t count = 0;
        for (size_t i = 7; i < request->target_length && count < sizeof filler; i++) count = count * 10 + target[i] - '0';
        if (count <= sizeof filler)
            return answer(loop, "200 OK", "application/octet-stream", filler, count, closes);
    }
    answer(loop, "404 Not Found", "text/plain; charset=utf-8", missing, sizeof missing - 1, closes);
}

static void on_buffer_needed(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(shared_buffer, sizeof shared_buffer);
}

static void on_closed(uv_handle_t *handle) {
    free(((connection_t *)handle)->held);
    free(handle);
}

static void close_stream(uv_stream_t *stream) {
    if (!uv_is_closing((uv_handle_t *)stream)) uv_close((uv_handle_t *)stream, on_closed);
}

static void on_written(uv_write_t *request, int status) {
    connection_t *connection = (connection_t *)request->handle;
    free(request);
    if (status < 0 || connection->closes) return close_stream((uv_stream_t *)connection);
    uv_read_start((uv_stream_t *)connection, on_buffer_needed, on_read);
}

// Sends all answers at once. A peer that does not read is not read from either.
static void flush(connection_t *connection) {
    uv_stream_t *stream = (uv_stream_t *)connection;
    uv_buf_t all = uv_buf_init(out, out_count);
    int written = uv_try_write(stream, &all, 1);
    if (written == UV_EAGAIN) written = 0;
    if (written < 0 || ((size_t)written == out_count && connection->closes)) return close_stream(stream);
    if ((size_t)written == out_count) return;
    unsent_t *unsent = malloc(sizeof *unsent + out_count - written);
    memcpy(unsent->bytes, out + written, out_count - written);
    uv_buf_t rest = uv_buf_init(unsent->bytes, out_count - written);
    uv_read_stop(stream);
    check(uv_write(&unsent->request, stream, &rest, 1, on_written), "write");
}

// Answers the requests in `bytes`, and returns how many bytes were used.
static size_t serve(connection_t *connection, const char *bytes, size_t count) {
    size_t used = 0;
    while (used < count && !connection->closes && out_count < sizeof out - (sizeof filler + 1024)) {
        if (connection->body_left > 0) {
            size_t part = count - used < (size_t)connection->body_left ? count - used : (size_t)connection->body_left;
            used += part, connection->body_left -= part;
            continue;
        }
        request_t request = {0};
        long length = parse(bytes + used, count - used, &request);
        if (length == 0 && count - used < HEAD_LIMIT) break;
        bool is_bad = length <= 0 || (request.is_11 && !request.has_host) || request.is_chunked || request.length > BODY_LIMIT;
        connection->closes = is_bad || request.closes || (!request.is_11 && !request.keeps_alive);
        if (is_bad) {
            answer(connection->tcp.loop, "400 Bad Request", "text/plain; charset=utf-8", "bad request\n", 12, true);
            break;
        }
        route(connection->tcp.loop, &request, connection->closes);
        used += length;
        connection->body_left = request.length;
    }
    return used;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    connection_t *connection = (connection_t *)stream;
    if (count == 0) return;
    if (count < 0) return close_stream(stream);
    const char *bytes = buffer->base;
    size_t total = count;
    if (connection->held_count > 0) {
        total += connection->held_count;
        connection->held = realloc(connection->held, total);
        memcpy(connection->held + connection->held_count, buffer->base, count);
        bytes = connection->held;
    }
    out_count = 0;
    size_t used = serve(connection, bytes, total);
    char *rest = NULL;
    if (used < total && !connection->closes) {
        rest = malloc(total - used);
        memcpy(rest, bytes + used, total - used);
    }
    free(connection->held);
    connection->held = rest;
    connection->held_count = rest ? total - used : 0;
    if (out_count > 0) flush(connection);
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
    fill_tables();
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
