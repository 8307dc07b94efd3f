#pragma once
#include <openssl/async.h>
#include <openssl/core_dispatch.h>
#include <openssl/provider.h>
#include "shim.h"

// Private keys that are elsewhere: a provider of OpenSSL's, of which the keys have a public part only, and ask the loop
// for each signature. It lives in a library context of its own, so that nobody else's search for a key or an algorithm
// meets it.

struct tls_distant_key {
    EVP_PKEY *public_key;
};

static void *tls_key_new(void *unused) {
    (void)unused;
    return calloc(1, sizeof(struct tls_distant_key));
}

static void tls_key_free(void *key) {
    EVP_PKEY_free(((struct tls_distant_key *)key)->public_key);
    free(key);
}

static int tls_key_has(const void *key, int selection) {
    (void)selection;
    return ((const struct tls_distant_key *)key)->public_key != NULL;
}

static int tls_key_match(const void *a, const void *b, int selection) {
    (void)selection;
    return EVP_PKEY_eq(
               ((const struct tls_distant_key *)a)->public_key, ((const struct tls_distant_key *)b)->public_key) == 1;
}

static int tls_key_get(void *key, OSSL_PARAM parameters[]) {
    return EVP_PKEY_get_params(((struct tls_distant_key *)key)->public_key, parameters);
}

static const OSSL_PARAM *tls_key_gettable(void *unused) {
    (void)unused;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_int(OSSL_PKEY_PARAM_BITS, NULL),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_SECURITY_BITS, NULL),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_MAX_SIZE, NULL),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, NULL, 0),
        OSSL_PARAM_END,
    };
    return list;
}

/// Takes the public key itself or, when OpenSSL compares the key with that of a certificate, its parts.
static int tls_key_import(struct tls_distant_key *key, const char *kind, const OSSL_PARAM parameters[]) {
    const OSSL_PARAM *whole = OSSL_PARAM_locate_const(parameters, "public-key");
    if (whole) {
        const void *pointer;
        size_t size;
        if (!OSSL_PARAM_get_octet_ptr(whole, &pointer, &size)) return 0;
        key->public_key = (EVP_PKEY *)pointer;
        return EVP_PKEY_up_ref(key->public_key);
    }
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
    bool is_done = context && EVP_PKEY_fromdata_init(context) == 1
                   && EVP_PKEY_fromdata(context, &key->public_key, EVP_PKEY_PUBLIC_KEY, (OSSL_PARAM *)parameters) == 1;
    EVP_PKEY_CTX_free(context);
    return is_done;
}

static int tls_key_import_rsa(void *key, int selection, const OSSL_PARAM parameters[]) {
    (void)selection;
    return tls_key_import(key, "RSA", parameters);
}

static int tls_key_import_ec(void *key, int selection, const OSSL_PARAM parameters[]) {
    (void)selection;
    return tls_key_import(key, "EC", parameters);
}

static const OSSL_PARAM *tls_key_import_types(int selection) {
    (void)selection;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_octet_ptr("public-key", NULL, 0),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_N, NULL, 0),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_E, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, NULL, 0),
        OSSL_PARAM_END,
    };
    return list;
}

static const char *tls_key_operation(int operation) {
    (void)operation;
    return "ASKED-FOR";
}

struct tls_signing {
    struct tls_distant_key *key;
    /// The bits of the hash.
    int hash;
    enum tls_algorithm algorithm;
};

static void *tls_signing_new(void *unused, const char *query) {
    (void)unused, (void)query;
    return calloc(1, sizeof(struct tls_signing));
}

static int tls_signing_set(void *context, const OSSL_PARAM parameters[]) {
    struct tls_signing *signing = context;
    const OSSL_PARAM *padding = OSSL_PARAM_locate_const(parameters, OSSL_SIGNATURE_PARAM_PAD_MODE);
    if (!padding) return 1;
    int number = 0;
    bool is_pss = padding->data_type == OSSL_PARAM_UTF8_STRING
                      ? strcmp(padding->data, OSSL_PKEY_RSA_PAD_MODE_PSS) == 0
                      : OSSL_PARAM_get_int(padding, &number) && number == RSA_PKCS1_PSS_PADDING;
    signing->algorithm = is_pss ? TLS_RSA_PSS : TLS_RSA_PKCS1;
    return 1;
}

static const OSSL_PARAM *tls_signing_settable(void *context, void *unused) {
    (void)context, (void)unused;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PAD_MODE, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PSS_SALTLEN, NULL, 0),
        OSSL_PARAM_END,
    };
    return list;
}

static int tls_signing_begin(void *context, const char *hash, void *key, const OSSL_PARAM parameters[]) {
    struct tls_signing *signing = context;
    signing->key = key;
    signing->algorithm = EVP_PKEY_is_a(signing->key->public_key, "EC") ? TLS_ECDSA : TLS_RSA_PKCS1;
    const EVP_MD *hashes[] = {EVP_sha224(), EVP_sha256(), EVP_sha384(), EVP_sha512()};
    for (size_t i = 0; hash && i < sizeof hashes / sizeof *hashes; i++) {
        if (EVP_MD_is_a(hashes[i], hash)) signing->hash = EVP_MD_get_size(hashes[i]) * 8;
    }
    return signing->hash != 0 && (!parameters || tls_signing_set(context, parameters));
}

/// Suspends the handshake until somebody has signed `message`.
static int tls_signing_end(
    void *context, unsigned char *signature, size_t *size, size_t capacity, const unsigned char *message,
    size_t message_size
) {
    struct tls_signing *signing = context;
    if (!signature) {
        *size = (size_t)EVP_PKEY_get_size(signing->key->public_key);
        return 1;
    }
    struct tls_link *link = tls_suspended_link();
    if (!link) return 0;
    link->message = message;
    link->message_size = message_size;
    link->algorithm = signing->algorithm;
    link->hash = signing->hash;
    link->signature = signature;
    link->signature_capacity = capacity;
    bool is_signed = tls_ask(link, TLS_QUESTION_SIGNATURE);
    *size = link->signature_size;
    return is_signed;
}

typedef void (*tls_function)(void);

#define TLS_KEY_FUNCTIONS(import) \
    { \
        {OSSL_FUNC_KEYMGMT_NEW, (tls_function)tls_key_new}, {OSSL_FUNC_KEYMGMT_FREE, (tls_function)tls_key_free}, \
            {OSSL_FUNC_KEYMGMT_HAS, (tls_function)tls_key_has}, \
            {OSSL_FUNC_KEYMGMT_MATCH, (tls_function)tls_key_match}, \
            {OSSL_FUNC_KEYMGMT_GET_PARAMS, (tls_function)tls_key_get}, \
            {OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, (tls_function)tls_key_gettable}, \
            {OSSL_FUNC_KEYMGMT_IMPORT, (tls_function)import}, \
            {OSSL_FUNC_KEYMGMT_IMPORT_TYPES, (tls_function)tls_key_import_types}, \
            {OSSL_FUNC_KEYMGMT_QUERY_OPERATION_NAME, (tls_function)tls_key_operation}, {0, NULL}, \
    }

static const OSSL_ALGORITHM *tls_provider_query(void *unused, int operation, int *is_for_one_use) {
    (void)unused;
    static const OSSL_DISPATCH rsa[] = TLS_KEY_FUNCTIONS(tls_key_import_rsa);
    static const OSSL_DISPATCH ec[] = TLS_KEY_FUNCTIONS(tls_key_import_ec);
    static const OSSL_DISPATCH signing[] = {
        {OSSL_FUNC_SIGNATURE_NEWCTX, (tls_function)tls_signing_new},
        {OSSL_FUNC_SIGNATURE_FREECTX, (tls_function)free},
        {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, (tls_function)tls_signing_begin},
        {OSSL_FUNC_SIGNATURE_DIGEST_SIGN, (tls_function)tls_signing_end},
        {OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, (tls_function)tls_signing_set},
        {OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, (tls_function)tls_signing_settable},
        {0, NULL},
    };
    static const OSSL_ALGORITHM keys[] = {
        {"RSA:rsaEncryption", "provider=distant", rsa, NULL},
        {"EC:id-ecPublicKey", "provider=distant", ec, NULL},
        {NULL, NULL, NULL, NULL},
    };
    static const OSSL_ALGORITHM signatures[] = {
        {"ASKED-FOR", "provider=distant", signing, NULL},
        {NULL, NULL, NULL, NULL},
    };
    *is_for_one_use = 0;
    return operation == OSSL_OP_KEYMGMT ? keys : operation == OSSL_OP_SIGNATURE ? signatures : NULL;
}

static int tls_provider_begin(
    const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *unused, const OSSL_DISPATCH **functions, void **context
) {
    (void)unused;
    static const OSSL_DISPATCH list[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (tls_function)tls_provider_query},
        {0, NULL},
    };
    *functions = list;
    *context = (void *)handle;
    return 1;
}

/// The library context of the provider; NULL for lack of memory.
static inline OSSL_LIB_CTX *tls_make_distance(void) {
    ERR_clear_error();
    OSSL_LIB_CTX *distance = OSSL_LIB_CTX_new();
    bool is_made = distance && OSSL_PROVIDER_add_builtin(distance, "distant", tls_provider_begin)
                   && OSSL_PROVIDER_load(distance, "distant");
    ERR_clear_error();
    return is_made ? distance : NULL;
}

/// The key that signs for `certificate`, and asks for each signature; NULL if the certificate is of another kind than RSA
/// and EC.
static inline EVP_PKEY *tls_distant_key(OSSL_LIB_CTX *distance, X509 *certificate) {
    ERR_clear_error();
    EVP_PKEY *key = NULL;
    void *public_key = X509_get0_pubkey(certificate);
    const char *kind = !public_key                       ? NULL
                       : EVP_PKEY_is_a(public_key, "EC") ? "EC"
                       : EVP_PKEY_is_a(public_key, "RSA") ? "RSA"
                                                          : NULL;
    EVP_PKEY_CTX *context = kind ? EVP_PKEY_CTX_new_from_name(distance, kind, NULL) : NULL;
    if (context && EVP_PKEY_fromdata_init(context) == 1) {
        OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_octet_ptr("public-key", &public_key, sizeof public_key),
            OSSL_PARAM_construct_end(),
        };
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
    }
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return key;
}

/// Signs `message`, on any thread, and returns the size of the signature, which is zero if OpenSSL refuses.
static inline size_t tls_sign(
    EVP_PKEY *key, enum tls_algorithm algorithm, int hash, const void *message, size_t message_size, void *signature, size_t capacity
) {
    ERR_clear_error();
    const char *name = hash == 512 ? "SHA512" : hash == 384 ? "SHA384" : hash == 256 ? "SHA256" : "SHA224";
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *details = NULL;
    bool is_ready = context && EVP_DigestSignInit_ex(context, &details, name, NULL, NULL, key, NULL) == 1;
    if (algorithm == TLS_RSA_PSS) {
        is_ready = is_ready && EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING) == 1
                   && EVP_PKEY_CTX_set_rsa_pss_saltlen(details, RSA_PSS_SALTLEN_DIGEST) == 1;
    }
    bool is_signed = is_ready && EVP_DigestSign(context, signature, &capacity, message, message_size) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return is_signed ? capacity : 0;
}
