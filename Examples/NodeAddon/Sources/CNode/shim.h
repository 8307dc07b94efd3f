#pragma once
#define NAPI_VERSION 8
#include <node_api.h>

/// `dlsym` with `RTLD_DEFAULT`, which Swift does not import: the host's own function, since the host comes first.
void *dlsym(void *library, const char *name);

/// The loop of an environment, NULL if it has none. A function, since Swift would see another type behind the pointer
/// than the one of Debian's header.
static inline void *uv_loop_of(napi_env env) {
    struct uv_loop_s *loop = NULL;
    napi_get_uv_event_loop(env, &loop);
    return loop;
}
