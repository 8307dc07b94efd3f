#pragma once
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Certificates for tests, as PEM texts, which are to be freed by `free`. What does not work traps.

struct certificate_wish {
    const char *common_name;
    /// Such as `DNS:example.org,IP:127.0.0.1`, or NULL.
    const char *names;
    /// Such as `serverAuth,clientAuth`, or NULL.
    const char *usage;
    /// Seconds since 1970.
    long long start, end;
    long serial;
    bool is_authority;
    bool uses_sha1;
};

static inline void *certificate_need(void *pointer) {
    if (!pointer) {
        ERR_print_errors_fp(stderr);
        abort();
    }
    return pointer;
}

static inline char *certificate_text(BIO *bio) {
    char *bytes = NULL;
    long size = BIO_get_mem_data(bio, &bytes);
    char *text = strndup(bytes, (size_t)size);
    BIO_free(bio);
    ERR_clear_error();
    return text;
}

/// An RSA key of so many bits or, for zero, one on the curve P-256, or Ed25519 if negative. Encrypted if there is a
/// passphrase.
static inline char *make_key(int bits, const char *passphrase) {
    EVP_PKEY *key = certificate_need(bits > 0   ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits)
                                     : bits < 0 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                                                : EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"));
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, passphrase ? EVP_aes_256_cbc() : NULL, (const unsigned char *)passphrase,
                             passphrase ? (int)strlen(passphrase) : 0, NULL, NULL);
    EVP_PKEY_free(key);
    return certificate_text(bio);
}

static inline EVP_PKEY *certificate_key(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = certificate_need(PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL));
    BIO_free(bio);
    return key;
}

static inline char *encrypt_key(const char *pem, const char *passphrase) {
    EVP_PKEY *key = certificate_key(pem);
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, EVP_aes_256_cbc(), (const unsigned char *)passphrase, (int)strlen(passphrase), NULL,
                             NULL);
    EVP_PKEY_free(key);
    return certificate_text(bio);
}

static inline X509 *certificate_of(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *certificate = certificate_need(PEM_read_bio_X509(bio, NULL, NULL, NULL));
    BIO_free(bio);
    return certificate;
}

static inline void certificate_extend(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = certificate_need(X509V3_EXT_conf_nid(NULL, &context, kind, value));
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

/// A certificate of `key`, signed by `issuer_key`, or by itself if `issuer` is NULL.
static inline char *make_certificate(
    struct certificate_wish wish, const char *key, const char *issuer, const char *issuer_key
) {
    X509 *certificate = X509_new();
    EVP_PKEY *own = certificate_key(key);
    X509 *authority = issuer ? certificate_of(issuer) : NULL;
    EVP_PKEY *signer = issuer ? certificate_key(issuer_key) : own;
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), wish.serial);
    ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)wish.start);
    ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)wish.end);
    X509_set_pubkey(certificate, own);
    X509_NAME *name = X509_get_subject_name(certificate);
    if (wish.common_name) {
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)wish.common_name, -1, -1, 0);
    }
    X509_set_issuer_name(certificate, authority ? X509_get_subject_name(authority) : name);
    X509 *over = authority ? authority : certificate;
    certificate_extend(certificate, over, NID_basic_constraints, wish.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    certificate_extend(certificate, over, NID_subject_key_identifier, "hash");
    if (wish.is_authority) certificate_extend(certificate, over, NID_key_usage, "critical,keyCertSign,cRLSign");
    if (wish.names) certificate_extend(certificate, over, NID_subject_alt_name, wish.names);
    if (wish.usage) certificate_extend(certificate, over, NID_ext_key_usage, wish.usage);
    if (!X509_sign(certificate, signer, wish.uses_sha1 ? EVP_sha1() : EVP_sha256())) certificate_need(NULL);
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    if (authority) {
        X509_free(authority);
        EVP_PKEY_free(signer);
    }
    EVP_PKEY_free(own);
    X509_free(certificate);
    return certificate_text(bio);
}

/// A list of `issuer` that revokes the certificate with the number `serial`.
static inline char *make_list(const char *issuer, const char *issuer_key, long serial, long long start, long long end) {
    X509_CRL *list = X509_CRL_new();
    X509 *authority = certificate_of(issuer);
    EVP_PKEY *signer = certificate_key(issuer_key);
    X509_CRL_set_version(list, 1);
    X509_CRL_set_issuer_name(list, X509_get_subject_name(authority));
    ASN1_TIME *time = ASN1_TIME_set(NULL, (time_t)start);
    X509_CRL_set1_lastUpdate(list, time);
    X509_REVOKED *revoked = X509_REVOKED_new();
    ASN1_INTEGER *number = ASN1_INTEGER_new();
    ASN1_INTEGER_set(number, serial);
    X509_REVOKED_set_serialNumber(revoked, number);
    X509_REVOKED_set_revocationDate(revoked, time);
    X509_CRL_add0_revoked(list, revoked);
    ASN1_TIME_set(time, (time_t)end);
    X509_CRL_set1_nextUpdate(list, time);
    X509_CRL_sort(list);
    if (!X509_CRL_sign(list, signer, EVP_sha256())) certificate_need(NULL);
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_CRL(bio, list);
    ASN1_TIME_free(time);
    ASN1_INTEGER_free(number);
    X509_CRL_free(list);
    X509_free(authority);
    EVP_PKEY_free(signer);
    return certificate_text(bio);
}
