#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// What is told of the entries of a watched directory, and of the directory itself.
static const uint32_t directory_changes = IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO
    | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

static inline int make_inotify(void) {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

/// Watches an open directory, under whatever name it has by now.
static inline int watch_directory(int inotify, int directory) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
    return inotify_add_watch(inotify, path, directory_changes);
}

/// Watches the directory above an open one for what removes or replaces it. What else is told of that directory stays so.
static inline int watch_directory_above(int inotify, int directory) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d/..", directory);
    return inotify_add_watch(inotify, path, IN_DELETE | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD);
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
