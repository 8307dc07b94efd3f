#pragma once
// Which copy of OpenSSL answers: a host such as Node.js exports one of its own, which comes before the system's.

#include <openssl/async.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stddef.h>

/// The functions of libssl and of libcrypto that this library calls.
#define TLS_FUNCTIONS(use) \
    use(SSL_CIPHER_get_name) use(SSL_CTX_add_client_CA) use(SSL_CTX_ctrl) use(SSL_CTX_free) \
    use(SSL_CTX_get_cert_store) use(SSL_CTX_get_client_CA_list) use(SSL_CTX_get_ex_data) use(SSL_CTX_get_options) \
    use(SSL_CTX_new) use(SSL_CTX_sess_set_new_cb) use(SSL_CTX_set_alpn_protos) use(SSL_CTX_set_alpn_select_cb) \
    use(SSL_CTX_set_cert_verify_callback) use(SSL_CTX_set_cipher_list) use(SSL_CTX_set_client_hello_cb) \
    use(SSL_CTX_set_default_verify_paths) use(SSL_CTX_set_ex_data) use(SSL_CTX_set_options) \
    use(SSL_CTX_set_security_level) use(SSL_CTX_set_session_ticket_cb) use(SSL_CTX_set_timeout) \
    use(SSL_CTX_set_tlsext_ticket_key_evp_cb) use(SSL_CTX_use_PrivateKey) use(SSL_CTX_use_certificate) \
    use(SSL_SESSION_free) use(SSL_SESSION_get0_ticket_appdata) use(SSL_SESSION_get_protocol_version) \
    use(SSL_SESSION_set1_ticket_appdata) use(SSL_SESSION_up_ref) use(SSL_client_hello_get0_ext) use(SSL_ctrl) \
    use(SSL_do_handshake) use(SSL_dup_CA_list) use(SSL_free) use(SSL_get0_alpn_selected) use(SSL_get0_param) \
    use(SSL_get0_peer_certificate) use(SSL_get0_verified_chain) use(SSL_get_SSL_CTX) use(SSL_get_current_cipher) \
    use(SSL_get_error) use(SSL_get_ex_data) use(SSL_get_ex_data_X509_STORE_CTX_idx) use(SSL_get_peer_cert_chain) \
    use(SSL_get_session) use(SSL_has_pending) use(SSL_key_update) use(SSL_new) use(SSL_read_ex) \
    use(SSL_select_next_proto) use(SSL_session_reused) use(SSL_set_SSL_CTX) use(SSL_set_accept_state) use(SSL_set_bio) \
    use(SSL_set_client_CA_list) use(SSL_set_connect_state) use(SSL_set_ex_data) use(SSL_set_num_tickets) \
    use(SSL_set_options) use(SSL_set_session) use(SSL_set_session_id_context) use(SSL_set_shutdown) \
    use(SSL_set_verify) use(SSL_shutdown) use(SSL_version) use(SSL_write_ex) use(TLS_client_method) \
    use(TLS_server_method)
#define CRYPTO_FUNCTIONS(use) \
    use(ASN1_STRING_get0_data) use(ASN1_STRING_length) use(ASN1_STRING_print_ex) use(ASN1_TIME_to_tm) \
    use(ASYNC_WAIT_CTX_free) \
    use(ASYNC_WAIT_CTX_get_callback) use(ASYNC_WAIT_CTX_new) use(ASYNC_WAIT_CTX_set_callback) \
    use(ASYNC_get_current_job) use(ASYNC_get_wait_ctx) use(ASYNC_pause_job) use(ASYNC_start_job) use(BIO_clear_flags) \
    use(BIO_ctrl) use(BIO_free) use(BIO_get_data) use(BIO_get_new_index) use(BIO_meth_new) use(BIO_meth_set_create) \
    use(BIO_meth_set_ctrl) use(BIO_meth_set_read) use(BIO_meth_set_write) use(BIO_new) use(BIO_new_mem_buf) \
    use(BIO_printf) use(BIO_s_mem) use(BIO_set_data) use(BIO_set_flags) use(BIO_set_init) use(CRYPTO_memcmp) \
    use(ERR_clear_error) use(ERR_peek_error) use(ERR_reason_error_string) use(EVP_DecryptInit_ex2) use(EVP_Digest) \
    use(EVP_DigestSign) use(EVP_DigestSignInit_ex) use(EVP_EncryptInit_ex2) use(EVP_MAC_CTX_set_params) \
    use(EVP_MD_CTX_free) use(EVP_MD_CTX_new) use(EVP_MD_get_size) use(EVP_MD_is_a) use(EVP_PKEY_CTX_free) \
    use(EVP_PKEY_CTX_new_from_name) use(EVP_PKEY_CTX_set_rsa_padding) use(EVP_PKEY_CTX_set_rsa_pss_saltlen) \
    use(EVP_PKEY_eq) use(EVP_PKEY_free) use(EVP_PKEY_fromdata) use(EVP_PKEY_fromdata_init) use(EVP_PKEY_get_params) \
    use(EVP_PKEY_get_size) use(EVP_PKEY_is_a) use(EVP_PKEY_up_ref) use(EVP_aes_256_cbc) use(EVP_sha224) \
    use(EVP_sha256) use(EVP_sha384) use(EVP_sha512) use(GENERAL_NAMES_free) use(OPENSSL_cleanse) \
    use(OpenSSL_version_num) use(OPENSSL_sk_num) use(OPENSSL_sk_value) use(OSSL_LIB_CTX_new) \
    use(OSSL_PARAM_construct_end) use(OSSL_PARAM_construct_octet_ptr) use(OSSL_PARAM_construct_octet_string) \
    use(OSSL_PARAM_construct_utf8_string) use(OSSL_PARAM_get_int) use(OSSL_PARAM_get_octet_ptr) \
    use(OSSL_PARAM_locate_const) use(OSSL_PROVIDER_add_builtin) use(OSSL_PROVIDER_load) use(PEM_read_bio_PrivateKey) \
    use(PEM_read_bio_X509) use(PEM_read_bio_X509_CRL) use(RAND_bytes) use(X509_CRL_digest) use(X509_CRL_free) \
    use(X509_CRL_get0_nextUpdate) use(X509_CRL_get_issuer) use(X509_NAME_cmp) use(X509_NAME_print_ex) \
    use(X509_OBJECT_get0_X509_CRL) use(X509_STORE_CTX_get0_cert) use(X509_STORE_CTX_get0_untrusted) \
    use(X509_STORE_CTX_get_current_cert) use(X509_STORE_CTX_get_error) use(X509_STORE_CTX_get_error_depth) \
    use(X509_STORE_CTX_get_ex_data) use(X509_STORE_CTX_set_error) use(X509_STORE_add_cert) use(X509_STORE_add_crl) \
    use(X509_STORE_get0_objects) use(X509_STORE_get0_param) use(X509_STORE_set_flags) use(X509_VERIFY_PARAM_get_flags) \
    use(X509_VERIFY_PARAM_set1_host) use(X509_VERIFY_PARAM_set1_ip_asc) use(X509_VERIFY_PARAM_set_flags) \
    use(X509_VERIFY_PARAM_set_hostflags) use(X509_VERIFY_PARAM_set_time) use(X509_check_private_key) use(X509_digest) \
    use(X509_free) use(X509_get0_notAfter) use(X509_get0_notBefore) use(X509_get0_pubkey) use(X509_get_ext_d2i) \
    use(X509_get_issuer_name) use(X509_get_serialNumber) use(X509_get_subject_name) use(X509_up_ref) \
    use(X509_verify_cert) use(X509_verify_cert_error_string) use(i2a_ASN1_INTEGER) use(i2d_X509)

/// As `Dl_info`, which is a GNU extension.
struct tls_loaded_file {
    const char *path;
    void *base;
    const char *symbol;
    void *address;
};

/// `dladdr`: zero if no file holds the address.
int tls_find_loaded_file(const void *address, struct tls_loaded_file *file) __asm__("dladdr");

/// The files of the functions, and the first function that comes from another file, or NULL.
struct tls_copy {
    const char *tls;
    const char *crypto;
    const char *stray;
    const char *stray_path;
    unsigned long version;
};

static inline const char *tls_file_of(const void *function) {
    struct tls_loaded_file file = {0};
    return tls_find_loaded_file(function, &file) && file.path ? file.path : "a file that is not known";
}

static inline struct tls_copy tls_find_copy(void) {
    struct tls_copy copy = {.version = OpenSSL_version_num()};
    const struct { const char *name; const void *address; } functions[] = {
#define use(function) {#function, (const void *)function},
        TLS_FUNCTIONS(use) {NULL, NULL}, CRYPTO_FUNCTIONS(use)
#undef use
    };
    const char **file = &copy.tls;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!functions[i].name) {
            file = &copy.crypto;
            continue;
        }
        const char *path = tls_file_of(functions[i].address);
        if (!*file) *file = path;
        if (*file == path || copy.stray || strcmp(*file, path) == 0) continue;
        copy.stray = functions[i].name;
        copy.stray_path = path;
    }
    return copy;
}
