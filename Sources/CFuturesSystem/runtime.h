#pragma once
#include <stddef.h>

/// The file that holds an address, and where that was loaded to. As `Dl_info`, which is a GNU extension.
struct loaded_file {
    const char *path;
    void *base;
    const char *symbol;
    void *address;
};

/// `dladdr`: zero if no file holds the address.
int find_loaded_file(const void *address, struct loaded_file *file) __asm__("dladdr");

/// What Dispatch offers to run loops that drain its main queue: a descriptor that is readable when the queue has work,
/// and the call that does the work.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *unused);

/// What Swift's runtime calls, if it is set, on the main thread when the main task has suspended for the first time: an
/// asynchronous `main`, or top-level code that awaits. It must not return. NULL where the runtime does not have it.
typedef __attribute__((swiftcall)) void (*main_drain)(void);
extern __attribute__((swiftcall, weak)) void (*swift_task_asyncMainDrainQueue_hook)(main_drain original, main_drain unused);

/// What the hook calls, with what the runtime would have called.
static void (*drain_main_thread)(main_drain original) = NULL;

static __attribute__((swiftcall)) void drain_main_thread_by_hook(main_drain original, main_drain unused) {
    drain_main_thread(original);
}

enum drain_hook { DRAIN_HOOK_SET, DRAIN_HOOK_TAKEN, DRAIN_HOOK_MISSING };

static inline enum drain_hook hook_main_drain(void (*drain)(main_drain original)) {
    if (!&swift_task_asyncMainDrainQueue_hook) return DRAIN_HOOK_MISSING;
    if (swift_task_asyncMainDrainQueue_hook) return DRAIN_HOOK_TAKEN;
    drain_main_thread = drain;
    swift_task_asyncMainDrainQueue_hook = drain_main_thread_by_hook;
    return DRAIN_HOOK_SET;
}

static inline void call_main_drain(main_drain drain) {
    drain();
}
