// The floor to measure encrypted connections against: an echo server as one writes it on libuv and OpenSSL in C, with a
// pair of memory BIOs for each connection. It reads into one shared buffer, encrypts what one read brought at once, tries to
// write that from where it was encrypted, and copies only what the socket did not take. The context is set as ours is.
// Beside it, on the same loop, it serves plain connections.
//
// Usage: tls CERTIFICATE KEY

#include <openssl/ssl.h>
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
    SSL *ssl; // NULL for a plain connection.
    BIO *incoming, *outgoing;
    bool ends; // when everything that waits is written
} connection_t;

typedef struct {
    uv_write_t request; // First, as above.
    char bytes[];
} unsent_t;

static char shared_buffer[BUFFER_SIZE], decrypted[BUFFER_SIZE];
static SSL_CTX *context;

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);

static void check(int status, const char *operation) {
    if (status == 0) return;
    fprintf(stderr, "%s: %s\n", operation, uv_strerror(status));
    exit(1);
}

static void require(bool holds, const char *operation) {
    if (holds) return;
    fprintf(stderr, "OpenSSL refuses %s\n", operation);
    exit(1);
}

static void on_buffer_needed(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(shared_buffer, sizeof shared_buffer);
}

static void on_closed(uv_handle_t *handle) {
    connection_t *connection = (connection_t *)handle;
    if (connection->ssl) {
        SSL_set_shutdown(connection->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_free(connection->ssl);
    }
    free(connection);
}

static void close_stream(uv_stream_t *stream) {
    if (!uv_is_closing((uv_handle_t *)stream)) uv_close((uv_handle_t *)stream, on_closed);
}

static void on_shut_down(uv_shutdown_t *request, int status) { close_stream(request->handle); }

static void end(connection_t *connection) {
    uv_stream_t *stream = (uv_stream_t *)connection;
    uv_read_stop(stream);
    if (uv_shutdown(&connection->shutdown, stream, on_shut_down) != 0) close_stream(stream);
}

static void on_written(uv_write_t *request, int status) {
    connection_t *connection = (connection_t *)request->handle;
    free(request);
    if (status < 0) return close_stream((uv_stream_t *)connection);
    if (connection->ends) return end(connection);
    uv_read_start((uv_stream_t *)connection, on_buffer_needed, on_read);
}

// A peer that does not read is not read from either: at most one buffer waits for it. False if the connection is broken.
static bool write_all(connection_t *connection, char *bytes, size_t length) {
    uv_stream_t *stream = (uv_stream_t *)connection;
    uv_buf_t all = uv_buf_init(bytes, length);
    int written = uv_try_write(stream, &all, 1);
    if (written == UV_EAGAIN) written = 0;
    if (written < 0) return close_stream(stream), false;
    if ((size_t)written < length) {
        unsent_t *unsent = malloc(sizeof *unsent + length - written);
        memcpy(unsent->bytes, bytes + written, length - written);
        uv_buf_t rest = uv_buf_init(unsent->bytes, length - written);
        uv_read_stop(stream);
        check(uv_write(&unsent->request, stream, &rest, 1, on_written), "write");
    }
    return true;
}

// Writes what is encrypted. Ends the connection afterwards if it is to end.
static void flush(connection_t *connection) {
    char *bytes;
    long length = BIO_get_mem_data(connection->outgoing, &bytes);
    if (length > 0) {
        bool is_whole = write_all(connection, bytes, length);
        (void)BIO_reset(connection->outgoing);
        if (!is_whole) return;
    }
    if (connection->ends && uv_stream_get_write_queue_size((uv_stream_t *)connection) == 0) end(connection);
}

static void serve_encrypted(connection_t *connection) {
    SSL *ssl = connection->ssl;
    int length = 0, count;
    while (length < BUFFER_SIZE && (count = SSL_read(ssl, decrypted + length, BUFFER_SIZE - length)) > 0) length += count;
    // A full buffer may leave some behind.
    bool is_full = length == BUFFER_SIZE;
    int error = is_full ? SSL_ERROR_WANT_READ : SSL_get_error(ssl, count);
    if (length > 0) SSL_write(ssl, decrypted, length);
    if (error == SSL_ERROR_ZERO_RETURN) {
        SSL_shutdown(ssl);
        connection->ends = true;
    } else if (error != SSL_ERROR_WANT_READ) {
        connection->ends = true; // after the alert
    }
    flush(connection);
    if (is_full && !uv_is_closing((uv_handle_t *)connection)) serve_encrypted(connection);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    connection_t *connection = (connection_t *)stream;
    if (count == 0) return;
    if (count == UV_EOF && !connection->ssl) return end(connection);
    if (count < 0) return close_stream(stream);
    if (!connection->ssl) return (void)write_all(connection, buffer->base, count);
    BIO_write(connection->incoming, buffer->base, count);
    serve_encrypted(connection);
}

static void on_connection(uv_stream_t *listener, int status) {
    check(status, "listen");
    connection_t *connection = calloc(1, sizeof *connection);
    check(uv_tcp_init(listener->loop, &connection->tcp), "init");
    uv_stream_t *stream = (uv_stream_t *)connection;
    if (uv_accept(listener, stream) != 0) return close_stream(stream);
    uv_tcp_nodelay(&connection->tcp, 1);
    if (listener->data) {
        connection->ssl = SSL_new(context);
        connection->incoming = BIO_new(BIO_s_mem());
        connection->outgoing = BIO_new(BIO_s_mem());
        SSL_set_bio(connection->ssl, connection->incoming, connection->outgoing);
        SSL_set_accept_state(connection->ssl);
    }
    check(uv_read_start(stream, on_buffer_needed, on_read), "read");
}

static void make_context(const char *certificate, const char *key) {
    context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_security_level(context, 2);
    // Without partial writes: everything that one read brought goes out at once.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
                                     | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_timeout(context, 7200);
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"echo", 4);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    require(SSL_CTX_set_cipher_list(
                context, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
                         "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"),
            "the ciphers");
    require(SSL_CTX_use_certificate_chain_file(context, certificate), "the certificate");
    require(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM), "the key");
}

static void serve(uv_tcp_t *listener, bool is_encrypted, const char *what) {
    struct sockaddr_in address;
    check(uv_ip4_addr("127.0.0.1", 0, &address), "address");
    check(uv_tcp_init(uv_default_loop(), listener), "init");
    listener->data = is_encrypted ? listener : NULL;
    check(uv_tcp_bind(listener, (struct sockaddr *)&address, 0), "bind");
    check(uv_listen((uv_stream_t *)listener, BACKLOG, on_connection), "listen");
    int length = sizeof address;
    check(uv_tcp_getsockname(listener, (struct sockaddr *)&address, &length), "getsockname");
    printf("%s on 127.0.0.1:%d\n", what, ntohs(address.sin_port));
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: tls CERTIFICATE KEY\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    make_context(argv[1], argv[2]);
    uv_tcp_t plain, encrypted;
    serve(&plain, false, "plain");
    serve(&encrypted, true, "listening");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
