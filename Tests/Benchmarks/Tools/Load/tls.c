// Encrypted connections, by OpenSSL over their descriptors.

#include "load.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SESSIONS = 1024 };

long resumed;
static SSL_CTX *context;
// That the server has let this side resume, each once.
static SSL_SESSION *sessions[MOST_SESSIONS];
static int session_count;

static int keep(SSL *ssl, SSL_SESSION *session) {
    if (session_count == MOST_SESSIONS) return 0;
    sessions[session_count++] = session;
    return 1;
}

static void make_context(void) {
    signal(SIGPIPE, SIG_IGN);
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    if (resumes) SSL_CTX_sess_set_new_cb(context, keep);
}

void *begin_encryption(int descriptor) {
    if (!context) make_context();
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, descriptor);
    SSL_set_connect_state(ssl);
    if (session_count > 0) {
        SSL_SESSION *session = sessions[--session_count];
        SSL_set_session(ssl, session);
        SSL_SESSION_free(session);
    }
    return ssl;
}

// A call that has to wait for the peer says what those of the system say.
static ssize_t outcome(SSL *ssl, int result) {
    if (result > 0) return result;
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_SYSCALL: return check(-1, "TLS");
    default:
        fprintf(stderr, "load: TLS: %s\n", ERR_reason_error_string(ERR_peek_error()));
        exit(1);
    }
}

ssize_t send_encrypted(const connection_t *connection, const void *bytes, size_t count) {
    ERR_clear_error();
    return outcome(connection->session, SSL_write(connection->session, bytes, count));
}

ssize_t receive_encrypted(const connection_t *connection, void *bytes, size_t count) {
    ERR_clear_error();
    return outcome(connection->session, SSL_read(connection->session, bytes, count));
}

void end_encryption(const connection_t *connection) {
    ERR_clear_error();
    require(SSL_shutdown(connection->session) >= 0, "TLS cannot be ended");
}

void free_encryption(connection_t *connection) {
    SSL *ssl = connection->session;
    resumed += SSL_session_reused(ssl);
    // Else it would forget the session.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl);
    connection->session = NULL;
}

size_t prepare_handshake(const connection_t *connection, void *bytes, size_t limit) {
    SSL *ssl = connection->session;
    BIO *memory = BIO_new(BIO_s_mem());
    BIO_up_ref(memory);
    SSL_set0_wbio(ssl, memory);
    require(!shake_hands(connection), "a handshake needs no server");
    int count = BIO_read(memory, bytes, limit);
    BIO_free(memory);
    require(count > 0, "a handshake has no first message");
    SSL_set0_wbio(ssl, BIO_new_socket(connection->descriptor, BIO_NOCLOSE));
    return count;
}

bool shake_hands(const connection_t *connection) {
    ERR_clear_error();
    return outcome(connection->session, SSL_do_handshake(connection->session)) > 0;
}
