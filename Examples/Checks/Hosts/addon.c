// An addon of Node's in C that has a Swift library serve on the loop of the environment, and that Node may unload. It
// forgets to detach if it is told so.

#define NAPI_VERSION 8
#include "../../Sources/CHost/echo_library.h"
#include <node_api.h>
#include <stdlib.h>

static void on_detached(void *handle) { napi_remove_async_cleanup_hook(handle); }

static void on_end(napi_async_cleanup_hook_handle handle, void *library) {
    echo_detach(library, on_detached, handle);
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
    uv_loop_t *loop = NULL;
    napi_get_uv_event_loop(env, &loop);
    char message[1024];
    echo_library *library = echo_attach(loop, uv_version_string, message, sizeof message);
    if (library == NULL) napi_throw_error(env, NULL, message);
    else if (!getenv("FORGET")) napi_add_async_cleanup_hook(env, on_end, library, NULL);
    napi_value port = NULL;
    if (library) napi_create_int32(env, echo_port(library), &port);
    return port;
}
