#pragma once
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include "shim.h"
#include <time.h>

// Certificates, keys and lists of revoked certificates, as PEM and as text. Texts that are returned are to be freed by
// `free`.

static inline char *tls_text_of(BIO *bio) {
    char *bytes = NULL;
    long size = BIO_get_mem_data(bio, &bytes);
    char *text = malloc((size_t)size + 1);
    if (text) {
        memcpy(text, bytes, (size_t)size);
        text[size] = 0;
    }
    BIO_free(bio);
    return text;
}

/// A name such as `CN=example.org,O=Example`.
static inline char *tls_name_text(const X509_NAME *name) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (!bio) return NULL;
    X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    ERR_clear_error();
    return tls_text_of(bio);
}

static inline char *tls_subject(const X509 *certificate) { return tls_name_text(X509_get_subject_name(certificate)); }
static inline char *tls_issuer(const X509 *certificate) { return tls_name_text(X509_get_issuer_name(certificate)); }

/// The serial number in hexadecimal digits.
static inline char *tls_serial(X509 *certificate) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (!bio) return NULL;
    i2a_ASN1_INTEGER(bio, X509_get_serialNumber(certificate));
    return tls_text_of(bio);
}

/// Seconds since 1970.
static inline long long tls_seconds(const ASN1_TIME *time) {
    struct tm parts = {0};
    return ASN1_TIME_to_tm(time, &parts) ? (long long)timegm(&parts) : 0;
}

static inline long long tls_start(const X509 *certificate) { return tls_seconds(X509_get0_notBefore(certificate)); }
static inline long long tls_end(const X509 *certificate) { return tls_seconds(X509_get0_notAfter(certificate)); }

/// The names and the addresses among the alternative names, one a line. A peer may write a line's end or a terminal's command
/// into a name: control characters are told as `\0A`.
static inline char *tls_alternative_names(const X509 *certificate) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (!bio) return NULL;
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_DNS) {
            ASN1_STRING_print_ex(bio, name->d.dNSName, ASN1_STRFLGS_ESC_CTRL);
            BIO_printf(bio, "\n");
        } else if (name->type == GEN_IPADD) {
            const unsigned char *bytes = ASN1_STRING_get0_data(name->d.iPAddress);
            if (ASN1_STRING_length(name->d.iPAddress) == 4) {
                BIO_printf(bio, "%d.%d.%d.%d\n", bytes[0], bytes[1], bytes[2], bytes[3]);
            } else if (ASN1_STRING_length(name->d.iPAddress) == 16) {
                for (int j = 0; j < 16; j += 2) {
                    BIO_printf(bio, "%s%x", j ? ":" : "", bytes[j] << 8 | bytes[j + 1]);
                }
                BIO_printf(bio, "\n");
            }
        }
    }
    GENERAL_NAMES_free(names);
    ERR_clear_error();
    return tls_text_of(bio);
}

/// Writes the DER form, if `bytes` is not NULL, and returns its size.
static inline int tls_der(const X509 *certificate, unsigned char *bytes) {
    return i2d_X509(certificate, bytes ? &bytes : NULL);
}

static inline BIO *tls_open_bytes(const void *bytes, size_t size) {
    ERR_clear_error();
    return BIO_new_mem_buf(bytes, (int)size);
}

/// The next certificate of the PEM text; NULL at its end, or if the text is malformed: then `*is_broken` is true.
static inline X509 *tls_next_certificate(BIO *bio, bool *is_broken) {
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    unsigned long code = tls_first_error();
    *is_broken = !certificate && ERR_GET_REASON(code) != PEM_R_NO_START_LINE;
    return certificate;
}

static inline X509_CRL *tls_next_list(BIO *bio, bool *is_broken) {
    X509_CRL *list = PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL);
    unsigned long code = tls_first_error();
    *is_broken = !list && ERR_GET_REASON(code) != PEM_R_NO_START_LINE;
    return list;
}

struct tls_passphrase {
    const char *text;
    size_t length;
    bool was_asked;
};

static int tls_give_passphrase(char *buffer, int size, int writes, void *passphrase) {
    (void)writes;
    struct tls_passphrase *given = passphrase;
    given->was_asked = true;
    if (!given->text) return -1;
    if (given->length > (size_t)size) return -1;
    memcpy(buffer, given->text, given->length);
    return (int)given->length;
}

/// The private key of the PEM text; NULL if there is none that can be read. `*was_asked` tells whether it is encrypted.
/// The passphrase has `length` bytes, of which any may be zero.
static inline EVP_PKEY *tls_private_key(BIO *bio, const char *passphrase, size_t length, bool *was_asked) {
    struct tls_passphrase given = {passphrase, length, false};
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, tls_give_passphrase, &given);
    *was_asked = given.was_asked;
    ERR_clear_error();
    return key;
}

static inline bool tls_trust(SSL_CTX *context, X509 *certificate) {
    ERR_clear_error();
    bool is_added = X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1;
    ERR_clear_error();
    return is_added;
}

static inline bool tls_add_list(SSL_CTX *context, X509_CRL *list) {
    ERR_clear_error();
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    bool is_added = X509_STORE_add_crl(store, list) == 1;
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    ERR_clear_error();
    return is_added;
}

static inline bool tls_key_fits(X509 *certificate, EVP_PKEY *key) {
    bool fits = X509_check_private_key(certificate, key) == 1;
    ERR_clear_error();
    return fits;
}

static inline const char *tls_fault_text(int fault) { return X509_verify_cert_error_string(fault); }

static inline int tls_chain_count(X509_STORE_CTX *store) { return sk_X509_num(X509_STORE_CTX_get0_untrusted(store)); }
static inline X509 *tls_chain_certificate(X509_STORE_CTX *store, int index) {
    return sk_X509_value(X509_STORE_CTX_get0_untrusted(store), index);
}

static inline int tls_peer_count(SSL *ssl) { return sk_X509_num(SSL_get_peer_cert_chain(ssl)); }
static inline X509 *tls_peer_chain_certificate(SSL *ssl, int index) {
    return sk_X509_value(SSL_get_peer_cert_chain(ssl), index);
}
