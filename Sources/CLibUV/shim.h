#pragma once
#include <stdbool.h>
#include <uv.h>

/// Whether a descriptor is to be watched that libuv hands to epoll only when it next waits.
static inline bool uv_has_unpolled_watchers(uv_loop_t *loop) {
    void **queue = (void **)&loop->watcher_queue;
    return queue[0] != queue;
}

/// Returns for how long the loop has waited, and measures it from the first call on.
static inline uint64_t uv_measured_idle_time(uv_loop_t *loop) {
    uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
    return uv_metrics_idle_time(loop);
}

/// Never called: its name is for a person. Not static, since only then the name can be found.
__attribute__((weak)) void call_detach_on_the_event_loop_and_wait_for_its_future(uv_handle_t *handle) {}
