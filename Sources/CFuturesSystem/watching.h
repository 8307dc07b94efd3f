#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

static inline int make_inotify(void) {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

/// Watches an open directory, under whatever name it has by now, for `changes`. What else is told of it stays so. Of what
/// has no name there any more, nothing is told.
static inline int watch_directory(int inotify, int directory, uint32_t changes) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
    return inotify_add_watch(inotify, path, changes | IN_ONLYDIR | IN_MASK_ADD | IN_EXCL_UNLINK);
}

/// Watches the directory above an open one in the same way.
static inline int watch_directory_above(int inotify, int directory, uint32_t changes) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d/..", directory);
    return inotify_add_watch(inotify, path, changes | IN_ONLYDIR | IN_MASK_ADD | IN_EXCL_UNLINK);
}

/// Watches a file of an open directory itself.
static inline int watch_file(int inotify, int directory, const char *name, uint32_t changes) {
    char path[32 + 256];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    return inotify_add_watch(inotify, path, changes | IN_DONT_FOLLOW | IN_MASK_ADD);
}

/// Writes the path of an open directory by now to `buffer`, and returns its length, or -1.
static inline ssize_t path_of_directory(int directory, char *buffer, size_t size) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
    return readlink(path, buffer, size);
}

/// How many bytes of events wait.
static inline int waiting_events(int inotify) {
    int count = 0;
    return ioctl(inotify, FIONREAD, &count) == 0 ? count : 0;
}

/// The name in an event, which may be empty.
static inline const char *name_of_event(const struct inotify_event *event) {
    return event->len > 0 ? event->name : "";
}
