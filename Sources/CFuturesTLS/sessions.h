#pragma once
#include <endian.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include "certificates.h"
#include "shim.h"

// Sessions, which clients resume. A server keeps none: it gives each to its client, encrypted, as a ticket.

enum { TLS_DIGEST_SIZE = 32 };

/// The SHA-256 of `bytes`. False for lack of memory.
static inline bool tls_digest(const void *bytes, size_t size, unsigned char *digest) {
    bool is_done = EVP_Digest(bytes, size, digest, NULL, EVP_sha256(), NULL) == 1;
    tls_clear_errors();
    return is_done;
}

static inline bool tls_certificate_digest(const X509 *certificate, unsigned char *digest) {
    return X509_digest(certificate, EVP_sha256(), digest, NULL) == 1;
}

static inline bool tls_list_digest(const X509_CRL *list, unsigned char *digest) {
    return X509_CRL_digest(list, EVP_sha256(), digest, NULL) == 1;
}

// The end of a session.

/// The end of the newest list of the certificate's issuer in the store, if there is one.
static inline long long tls_end_of_lists(X509_STORE *store, const X509 *certificate) {
    long long end = 0;
    bool is_listed = false;
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509_CRL *list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(objects, i));
        if (!list || X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_issuer_name(certificate))) continue;
        const ASN1_TIME *next = X509_CRL_get0_nextUpdate(list);
        long long this_end = next ? tls_seconds(next) : INT64_MAX;
        if (!is_listed || this_end > end) end = this_end;
        is_listed = true;
    }
    return is_listed ? end : INT64_MAX;
}

/// Notes in the session when the peer is not trusted any more: when a certificate or a list ends that this rests on.
static inline bool tls_note_end(SSL *ssl, SSL_SESSION *session) {
    // A session that goes on from another one has the end of that.
    if (SSL_session_reused(ssl)) return true;
    long long end = INT64_MAX;
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        const X509 *certificate = sk_X509_value(chain, i);
        long long ends[] = {
            tls_end(certificate), tls_end_of_lists(SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl)), certificate)
        };
        if (ends[0] < end) end = ends[0];
        if (ends[1] < end) end = ends[1];
    }
    uint64_t bytes = htobe64((uint64_t)end);
    return SSL_SESSION_set1_ticket_appdata(session, &bytes, sizeof bytes) == 1;
}

/// The time until which a session may be resumed, in seconds since 1970.
static inline long long tls_session_end(SSL_SESSION *session) {
    void *note = NULL;
    size_t size = 0;
    uint64_t bytes = 0;
    if (SSL_SESSION_get0_ticket_appdata(session, &note, &size) && size == sizeof bytes) memcpy(&bytes, note, size);
    return (long long)be64toh(bytes);
}

// Callbacks.

/// Encrypts tickets with the first key, and decrypts those of all keys. A key is a name of 16 bytes, a key of 32 bytes
/// for AES-256, and one of 32 bytes for HMAC with SHA-256.
static int tls_ticket_key(
    SSL *ssl, unsigned char *name, unsigned char *vector, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypts
) {
    struct tls_settings *settings = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    int index = 0;
    if (encrypts) {
        memcpy(name, settings->ticket_keys[0], 16);
    } else {
        while (index < settings->ticket_key_count && CRYPTO_memcmp(name, settings->ticket_keys[index], 16)) index++;
        if (index == settings->ticket_key_count) return 0;
    }
    unsigned char *key = settings->ticket_keys[index];
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key + 48, 32),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (!EVP_MAC_CTX_set_params(mac, parameters)) return -1;
    if (encrypts) {
        if (RAND_bytes(vector, 16) != 1) return -1;
        return EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), key + 16, vector, NULL) ? 1 : -1;
    }
    if (!EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), key + 16, vector, NULL)) return -1;
    // A ticket of an older key is replaced, and one of TLS 1.3, which is used once.
    return index == 0 && SSL_version(ssl) < TLS1_3_VERSION ? 1 : 2;
}

static int tls_give_ticket(SSL *ssl, void *unused) {
    (void)unused;
    return tls_note_end(ssl, SSL_get_session(ssl));
}

/// Takes a ticket that could be decrypted, and whose session has not ended. Another one costs a full handshake.
static SSL_TICKET_RETURN tls_take_ticket(
    SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t name_size, SSL_TICKET_STATUS status, void *unused
) {
    (void)name, (void)name_size, (void)unused;
    struct tls_link *link = SSL_get_app_data(ssl);
    bool is_readable = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
    if (!is_readable || tls_session_end(session) <= link->now) return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

static int tls_new_session(SSL *ssl, SSL_SESSION *session) {
    struct tls_link *link = SSL_get_app_data(ssl);
    if (link && link->keep_session && tls_note_end(ssl, session)) link->keep_session(link->owner, session);
    return 0;
}

/// Sets how sessions are given and kept. False if OpenSSL has no random bytes.
static inline bool tls_prepare_sessions(SSL_CTX *context, struct tls_settings *settings, bool is_server) {
    SSL_CTX_set_timeout(context, 7200);
    if (!is_server) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, tls_new_session);
        return true;
    }
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, tls_ticket_key);
    SSL_CTX_set_session_ticket_cb(context, tls_give_ticket, tls_take_ticket, NULL);
    if (settings->ticket_key_count > 0) return true;
    settings->ticket_key_count = 1;
    return RAND_bytes(settings->ticket_keys[0], TLS_TICKET_KEY_SIZE) == 1;
}

/// Lets the client of the connection resume nothing, now or later.
static inline void tls_refuse_sessions(SSL *ssl) {
    SSL_set_options(ssl, SSL_OP_NO_TICKET);
    SSL_set_num_tickets(ssl, 0);
}

/// Lets the client of the connection resume only what was made under the same rules. Of these, OpenSSL takes 32 bytes.
static inline void tls_bind_sessions(SSL *ssl, const void *rules, size_t size) {
    unsigned char digest[TLS_DIGEST_SIZE];
    if (!tls_digest(rules, size, digest)) return tls_refuse_sessions(ssl);
    SSL_set_session_id_context(ssl, digest, sizeof digest);
}
