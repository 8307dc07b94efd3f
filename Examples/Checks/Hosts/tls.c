// Has a Swift library make an encrypted connection, and says which file's OpenSSL has answered: as an addon of Node's, as a
// function for Python's ctypes, and as a program. The program exports a function of OpenSSL's, if it is told so, as a host would
// that has parts of another OpenSSL.
//
// usage: tls FOLDER    with ca.pem, server.pem and server.key

#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void tls_try(const char *certificates, const char *key, const char *authority, char *text, int capacity);

const char *tls_say(const char *folder) {
    static char text[1024], all[2048];
    char paths[3][512];
    const char *names[] = {"server.pem", "server.key", "ca.pem"};
    for (int i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    tls_try(paths[0], paths[1], paths[2], text, sizeof text);
    Dl_info file = {0};
    void *function = dlsym(RTLD_DEFAULT, "SSL_CTX_new");
    if (function) dladdr(function, &file);
    snprintf(all, sizeof all, "%s; OpenSSL of %s", text, file.dli_fname ? file.dli_fname : "nobody");
    return all;
}

#ifdef ADDON
#include <node_api.h>

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
    (void)exports;
    napi_value text;
    napi_create_string_utf8(env, tls_say(getenv("CERTIFICATES")), NAPI_AUTO_LENGTH, &text);
    return text;
}
#else
#ifdef STRAY
__attribute__((visibility("default"))) int SSL_shutdown(void *connection) { return connection == NULL; }
#endif

int main(int count, char **arguments) {
    if (count < 2) return 2;
    puts(tls_say(arguments[1]));
}
#endif
