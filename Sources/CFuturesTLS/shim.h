#pragma once
#include <openssl/async.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// What of OpenSSL is a macro, takes a callback, or needs the error queue of the thread: that is cleared before each call
// and left empty, because the host of the loop and others on the thread use it, too.

enum {
    TLS_TICKET_KEYS = 8,
    TLS_TICKET_KEY_SIZE = 80,
    TLS_RECORD_START = 5,
    TLS_MOST_INPUT = 17408,
    TLS_RECORD_OVERHEAD = 64,
    /// The bytes of the smallest records that a large write is cut into.
    TLS_LARGE_WRITE = 4096,
    /// What SSL_get_error never says: the handshake is suspended until its question is answered.
    TLS_SUSPENDED = 1000,
};

enum tls_algorithm { TLS_ECDSA, TLS_RSA_PKCS1, TLS_RSA_PSS };

/// What a suspended handshake asks.
enum tls_question { TLS_QUESTION_NONE, TLS_QUESTION_SIGNATURE, TLS_QUESTION_DECISION };

/// What becomes of the choice of a context by the name that the client asks for.
enum tls_choice { TLS_CHOICE_NOT_NEEDED, TLS_CHOICE_ASKED, TLS_CHOICE_MADE, TLS_CHOICE_REFUSED };

/// The bytes between OpenSSL and the stream beneath, and what the callbacks of one connection note.
struct tls_link {
    /// Borrowed for a call, or NULL.
    const unsigned char *input;
    size_t input_size;
    /// How many of them are left for the next call.
    size_t input_left;
    bool input_ended;
    unsigned char *output;
    size_t output_size;
    size_t output_capacity;
    /// The first bytes that came, to tell what a peer speaks that does not speak TLS.
    unsigned char first[TLS_RECORD_START];
    size_t first_size;
    /// The first thing that is wrong with the certificates of the peer, and the certificate.
    int fault;
    X509 *faulty;
    /// The time at which certificates have to be valid, in seconds since 1970.
    long long now;
    enum tls_choice choice;
    /// The name that the client has asked for, in any bytes, or NULL.
    char *server_name;
    size_t server_name_size;
    /// Judges the chain in place of OpenSSL, if not NULL.
    bool (*judge)(void *owner, X509_STORE_CTX *chain, bool is_trusted);
    void *owner;
    /// Gets the sessions that a server lets its client resume; the callback owns none of them.
    void (*keep_session)(void *owner, SSL_SESSION *session);
    /// The handshake that is suspended, or NULL.
    ASYNC_JOB *job;
    ASYNC_WAIT_CTX *wait;
    enum tls_question question;
    bool answer;
    /// What is to be signed, how, and where the signature goes. Borrowed while the question is open.
    const unsigned char *message;
    size_t message_size;
    enum tls_algorithm algorithm;
    int hash;
    unsigned char *signature;
    size_t signature_size;
    size_t signature_capacity;
    /// The chain to decide about, and whether it has passed all checks. Borrowed while the question is open.
    X509_STORE_CTX *chain;
    bool is_trusted;
};

/// What the callbacks of a context need. It lives as long as the context.
struct tls_settings {
    unsigned char *protocols;
    unsigned protocols_size;
    unsigned char ticket_keys[TLS_TICKET_KEYS][TLS_TICKET_KEY_SIZE];
    int ticket_key_count;
};

/// The outcome of a call: the number of bytes, or else what SSL_get_error says, with the first error of the queue.
struct tls_outcome {
    size_t count;
    int error;
    unsigned long code;
};

// The BIO.

static int tls_bio_read(BIO *bio, char *bytes, int size) {
    struct tls_link *link = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t available = link->input_size - link->input_left;
    if (available == 0) {
        if (link->input_ended && link->input_size == 0) return 0;
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t count = (size_t)size < available ? (size_t)size : available;
    memcpy(bytes, link->input, count);
    for (size_t i = 0; i < count && link->first_size < TLS_RECORD_START; i++) {
        link->first[link->first_size++] = link->input[i];
    }
    link->input += count;
    link->input_size -= count;
    return (int)count;
}

/// False for lack of memory.
static bool tls_make_room(struct tls_link *link, size_t capacity) {
    if (capacity <= link->output_capacity) return true;
    unsigned char *larger = realloc(link->output, capacity);
    if (!larger) return false;
    link->output = larger;
    link->output_capacity = capacity;
    return true;
}

static int tls_bio_write(BIO *bio, const char *bytes, int size) {
    struct tls_link *link = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t needed = link->output_size + (size_t)size;
    if (needed > link->output_capacity) {
        size_t capacity = link->output_capacity ? link->output_capacity : 256;
        while (capacity < needed) capacity *= 2;
        if (!tls_make_room(link, capacity)) return -1;
    }
    memcpy(link->output + link->output_size, bytes, (size_t)size);
    link->output_size = needed;
    return size;
}

static long tls_bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)number, (void)pointer;
    struct tls_link *link = BIO_get_data(bio);
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return link->input_ended && link->input_size == 0;
    default: return 0;
    }
}

static int tls_bio_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

/// NULL for lack of memory.
static inline BIO_METHOD *tls_make_bio_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    if (!method) return NULL;
    BIO_meth_set_read(method, tls_bio_read);
    BIO_meth_set_write(method, tls_bio_write);
    BIO_meth_set_ctrl(method, tls_bio_control);
    BIO_meth_set_create(method, tls_bio_create);
    return method;
}

static inline void tls_drop_output(struct tls_link *link) {
    free(link->output);
    link->output = NULL;
    link->output_size = link->output_capacity = 0;
}

// Handshakes that are suspended. OpenSSL calls for a signature and for a decision about a chain, and wants the answer before
// the call returns. Its own coroutines let it wait: the handshake runs on a stack apart, which is left at the question, and
// entered again with the answer. Of the 32 KiB of that stack a handshake with a chain of three uses 8, and no code of ours
// but this file's runs there. Contexts of our own, made by makecontext, would have a guard page, but take seven times as
// long (15 and 2 microseconds), because they save the mask of signals by a system call.

static int tls_ignore_wake(void *unused) {
    (void)unused;
    return 0;
}

static int tls_job(void *arguments) { return SSL_do_handshake(*(SSL **)arguments); }

/// The connection of the handshake that may be suspended here, or NULL.
static inline struct tls_link *tls_suspended_link(void) {
    ASYNC_JOB *job = ASYNC_get_current_job();
    ASYNC_callback_fn wake;
    void *link = NULL;
    return job && ASYNC_WAIT_CTX_get_callback(ASYNC_get_wait_ctx(job), &wake, &link) ? link : NULL;
}

/// Suspends the handshake, and returns the answer.
static inline bool tls_ask(struct tls_link *link, enum tls_question question) {
    link->question = question;
    link->answer = false;
    ASYNC_pause_job();
    link->question = TLS_QUESTION_NONE;
    return link->answer;
}

/// Copies the signature that was asked for, if its size makes sense. One of RSA is as long as its key.
static inline void tls_answer_signature(struct tls_link *link, const void *signature, size_t size) {
    bool is_short = link->algorithm != TLS_ECDSA ? size < link->signature_capacity : size == 0;
    if (is_short || size > link->signature_capacity) return;
    memcpy(link->signature, signature, size);
    link->signature_size = size;
    link->answer = true;
}

// Callbacks of contexts.

static int tls_note_fault(int is_good, X509_STORE_CTX *store) {
    if (is_good) return 1;
    int error = X509_STORE_CTX_get_error(store);
    // Lists are asked for of the peer's own certificate; of an authority only if its issuer's list is there.
    if (error == X509_V_ERR_UNABLE_TO_GET_CRL && X509_STORE_CTX_get_error_depth(store) > 0) {
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
    }
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls_link *link = ssl ? SSL_get_app_data(ssl) : NULL;
    if (link && link->fault == X509_V_OK) {
        link->fault = error;
        link->faulty = X509_STORE_CTX_get_current_cert(store);
        if (!link->faulty) link->faulty = X509_STORE_CTX_get0_cert(store);
        if (link->faulty) X509_up_ref(link->faulty);
    }
    return 0;
}

static int tls_judge(X509_STORE_CTX *store, void *unused) {
    (void)unused;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls_link *link = SSL_get_app_data(ssl);
    bool is_trusted = X509_verify_cert(store) == 1, is_accepted;
    if (!link->judge) return is_trusted;
    if (tls_suspended_link() == link) {
        link->chain = store;
        link->is_trusted = is_trusted;
        is_accepted = tls_ask(link, TLS_QUESTION_DECISION);
        link->chain = NULL;
    } else {
        is_accepted = link->judge(link->owner, store, is_trusted);
    }
    if (is_accepted) {
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
    }
    if (is_trusted) X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    if (link->fault == X509_V_OK) {
        link->fault = X509_V_ERR_APPLICATION_VERIFICATION;
        link->faulty = X509_STORE_CTX_get0_cert(store);
        if (link->faulty) X509_up_ref(link->faulty);
    }
    return 0;
}

/// Notes the name in the client's greeting, and suspends the handshake until somebody has chosen a context for it.
static int tls_choose(SSL *ssl, int *alert, void *unused) {
    (void)unused;
    struct tls_link *link = SSL_get_app_data(ssl);
    const unsigned char *list = NULL, *name = NULL;
    size_t size = 0, name_size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &list, &size)) {
        // The size of the list, and in it one name: its kind, its size and its bytes.
        bool is_list = size >= 5 && (size_t)(list[0] << 8 | list[1]) == size - 2 && list[2] == TLSEXT_NAMETYPE_host_name
                       && (size_t)(list[3] << 8 | list[4]) == size - 5;
        if (!is_list) {
            *alert = SSL_AD_DECODE_ERROR;
            return SSL_CLIENT_HELLO_ERROR;
        }
        name = list + 5;
        name_size = size - 5;
    }
    switch (link->choice) {
    case TLS_CHOICE_MADE:
        // A client that is asked to greet again has to repeat what it has said.
        if (!name == !link->server_name && name_size == link->server_name_size
            && (!name || memcmp(name, link->server_name, name_size) == 0)) {
            return SSL_CLIENT_HELLO_SUCCESS;
        }
        *alert = SSL_AD_ILLEGAL_PARAMETER;
        return SSL_CLIENT_HELLO_ERROR;
    case TLS_CHOICE_REFUSED:
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_CLIENT_HELLO_ERROR;
    default: break;
    }
    if (name) {
        link->server_name = malloc(name_size + 1);
        if (!link->server_name) return SSL_CLIENT_HELLO_ERROR;
        memcpy(link->server_name, name, name_size);
        link->server_name_size = name_size;
    }
    link->choice = TLS_CHOICE_ASKED;
    return SSL_CLIENT_HELLO_RETRY;
}

static int tls_select_protocol(
    SSL *ssl, const unsigned char **selected, unsigned char *size, const unsigned char *offered, unsigned offered_size,
    void *unused
) {
    (void)unused;
    struct tls_settings *settings = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    if (settings->protocols_size == 0) return SSL_TLSEXT_ERR_NOACK;
    int found = SSL_select_next_proto(
        (unsigned char **)selected, size, settings->protocols, settings->protocols_size, offered, offered_size);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Contexts.

/// Clears the error queue. ERR_clear_error takes as long for an empty queue as for a full one, and for a small message a
/// third of all the work.
static inline void tls_clear_errors(void) {
    if (ERR_peek_error()) ERR_clear_error();
}

static inline unsigned long tls_first_error(void) {
    unsigned long code = ERR_peek_error();
    tls_clear_errors();
    return code;
}

/// Sets what every context has. Zero if OpenSSL refuses.
static inline bool tls_prepare_context(SSL_CTX *context, struct tls_settings *settings, bool is_server) {
    SSL_CTX_set_app_data(context, settings);
    SSL_CTX_set_security_level(context, 2);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
                                     | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_cert_verify_callback(context, tls_judge, NULL);
    if (is_server) {
        SSL_CTX_set_alpn_select_cb(context, tls_select_protocol, NULL);
        SSL_CTX_set_client_hello_cb(context, tls_choose, NULL);
        return true;
    }
    return settings->protocols_size == 0
           || SSL_CTX_set_alpn_protos(context, settings->protocols, settings->protocols_size) == 0;
}

static inline bool tls_set_versions(SSL_CTX *context, int least, int most) {
    return SSL_CTX_set_min_proto_version(context, least) && SSL_CTX_set_max_proto_version(context, most);
}

static inline bool tls_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

// Connections.

/// A connection over `link`; NULL for lack of memory.
static inline SSL *tls_make_connection(SSL_CTX *context, BIO_METHOD *method, struct tls_link *link, bool is_server) {
    tls_clear_errors();
    SSL *ssl = SSL_new(context);
    BIO *bio = ssl ? BIO_new(method) : NULL;
    if (!bio) {
        SSL_free(ssl);
        return NULL;
    }
    BIO_set_data(bio, link);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_app_data(ssl, link);
    if (is_server) SSL_set_accept_state(ssl); else SSL_set_connect_state(ssl);
    return ssl;
}

/// Sets how the peer's certificates are checked, at `now` in seconds since 1970.
static inline void tls_set_verification(SSL *ssl, bool asks, bool requires, long long now) {
    int mode = !asks ? SSL_VERIFY_NONE : SSL_VERIFY_PEER | (requires ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
    struct tls_link *link = SSL_get_app_data(ssl);
    link->now = now;
    SSL_set_verify(ssl, mode, tls_note_fault);
    X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), (time_t)now);
}

/// Sets the host that a server's certificate has to name. The name is sent to the server, an address is not. False if
/// OpenSSL does not take it.
static inline bool tls_set_host(SSL *ssl, const char *host, bool is_address) {
    X509_VERIFY_PARAM *parameters = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    tls_clear_errors();
    bool is_set = is_address ? X509_VERIFY_PARAM_set1_ip_asc(parameters, host)
                             : X509_VERIFY_PARAM_set1_host(parameters, host, 0) && SSL_set_tlsext_host_name(ssl, host);
    tls_clear_errors();
    return is_set;
}

/// Goes on with the certificates, the ciphers, the versions and the checks of `context`.
static inline void tls_switch_context(SSL *ssl, SSL_CTX *context) {
    tls_clear_errors();
    SSL_set_SSL_CTX(ssl, context);
    SSL_set_options(ssl, SSL_CTX_get_options(context));
    SSL_set_min_proto_version(ssl, SSL_CTX_get_min_proto_version(context));
    SSL_set_max_proto_version(ssl, SSL_CTX_get_max_proto_version(context));
    STACK_OF(X509_NAME) *names = SSL_CTX_get_client_CA_list(context);
    SSL_set_client_CA_list(ssl, names ? SSL_dup_CA_list(names) : NULL);
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    SSL_set1_verify_cert_store(ssl, store);
    X509_VERIFY_PARAM_set_flags(SSL_get0_param(ssl), X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(store)));
    tls_clear_errors();
}

static inline struct tls_outcome tls_outcome_of(SSL *ssl, int result, size_t count) {
    struct tls_outcome outcome = {.count = count};
    if (result <= 0) {
        outcome.error = SSL_get_error(ssl, result);
        outcome.code = ERR_peek_error();
    }
    tls_clear_errors();
    return outcome;
}

/// Goes on with the handshake, which may be suspended if `may_ask`.
static inline struct tls_outcome tls_shake_hands(SSL *ssl, struct tls_link *link, bool may_ask) {
    tls_clear_errors();
    int result = -1;
    if (!may_ask && !link->job) {
        result = SSL_do_handshake(ssl);
    } else {
        if (!link->wait) {
            link->wait = ASYNC_WAIT_CTX_new();
            ASYNC_WAIT_CTX_set_callback(link->wait, tls_ignore_wake, link);
        }
        if (ASYNC_start_job(&link->job, link->wait, &result, tls_job, &ssl, sizeof ssl) == ASYNC_PAUSE) {
            tls_clear_errors();
            return (struct tls_outcome){.error = TLS_SUSPENDED};
        }
    }
    return tls_outcome_of(ssl, result, 0);
}

static inline struct tls_outcome tls_read(SSL *ssl, void *bytes, size_t size) {
    tls_clear_errors();
    // A call takes a whole record, and no more than so much of what brings the user nothing, such as new keys.
    struct tls_link *link = SSL_get_app_data(ssl);
    link->input_left = link->input_size > TLS_MOST_INPUT ? link->input_size - TLS_MOST_INPUT : 0;
    size_t count = 0;
    int result = SSL_read_ex(ssl, bytes, size, &count);
    link->input_left = 0;
    return tls_outcome_of(ssl, result, count);
}

static inline struct tls_outcome tls_write(SSL *ssl, const void *bytes, size_t size) {
    tls_clear_errors();
    // Room for all records of a large write, at once: to make more of it for each record would copy those before.
    struct tls_link *link = SSL_get_app_data(ssl);
    if (size > TLS_LARGE_WRITE) {
        tls_make_room(link, link->output_size + size + (size / TLS_LARGE_WRITE + 1) * TLS_RECORD_OVERHEAD);
    }
    size_t count = 0;
    int result = SSL_write_ex(ssl, bytes, size, &count);
    return tls_outcome_of(ssl, result, count);
}

/// Sends `close_notify`.
static inline void tls_tell_end(SSL *ssl) {
    tls_clear_errors();
    SSL_shutdown(ssl);
    tls_clear_errors();
}

/// The most bytes that a record carries from now on.
static inline void tls_set_record_size(SSL *ssl, long size) {
    tls_clear_errors();
    SSL_set_max_send_fragment(ssl, size);
    // A smaller maximum has made this smaller, and a larger one does not make it larger.
    SSL_set_split_send_fragment(ssl, size);
}

/// Frees the connection. Without a shutdown, OpenSSL would forget its session.
static inline void tls_free_connection(SSL *ssl, struct tls_link *link) {
    // What is suspended holds memory, which only its end releases.
    while (link->job) {
        link->answer = false;
        tls_shake_hands(ssl, link, true);
    }
    tls_clear_errors();
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl);
    ASYNC_WAIT_CTX_free(link->wait);
    if (link->faulty) X509_free(link->faulty);
    free(link->server_name);
    free(link->output);
    free(link);
    tls_clear_errors();
}

static inline bool tls_renew_keys(SSL *ssl, bool both) {
    tls_clear_errors();
    bool is_done = SSL_key_update(ssl, both ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1;
    tls_clear_errors();
    return is_done;
}

/// The reason of an error as OpenSSL words it, or NULL.
static inline const char *tls_reason(unsigned long code) { return ERR_reason_error_string(code); }

/// The number of the alert that an error says the peer has sent, or -1.
static inline int tls_alert_of(unsigned long code) {
    int reason = ERR_GET_REASON(code);
    return ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : -1;
}

static inline int tls_reason_of(unsigned long code) { return ERR_GET_REASON(code); }

/// Puts an error into the queue of the thread, as other code would.
static inline void tls_leave_error(void) { ERR_raise(ERR_LIB_X509, ERR_R_MALLOC_FAILURE); }

static inline bool tls_has_error(void) { return ERR_peek_error() != 0; }
