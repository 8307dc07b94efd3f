#pragma once
#include <uv.h>

/// An echo server, written in Swift, on somebody else's loop. All calls are made on the loop's thread.
typedef struct echo_library echo_library;

/// Starts a server on a free port of the loopback interface, for TCP and UDP. `host_version` is the host's `uv_version_string`, by which
/// the library sees whether it calls the same copy of libuv. NULL, with the reason in `message`, if it does not.
echo_library *echo_attach(
    uv_loop_t *loop, const char *(*host_version)(void), char *message, int capacity);
/// Ends the server. `done` is called when nothing of it is left on the loop, which may then be closed.
void echo_detach(echo_library *, void (*done)(void *data), void *data);

/// Starts a server on a loop of its own, which the host polls: until `echo_poll_descriptor` is readable, for at most
/// `echo_poll_timeout` milliseconds, or for ever if that is -1, and then calls `echo_turn`.
echo_library *echo_start(char *message, int capacity);
int echo_poll_descriptor(echo_library *);
int echo_poll_timeout(echo_library *);
void echo_turn(echo_library *);
void echo_stop(echo_library *);

int echo_port(echo_library *);
/// Calls `callback` with `milliseconds` when so much time has passed.
void echo_call_later(echo_library *, int milliseconds, void (*callback)(int milliseconds));

/// Reads a file on a thread of the library's, and calls `done` on the loop with its contents, or with the code -1 and the
/// reason. As for the calls below, nothing is called once the library has detached.
void echo_read_file(echo_library *, const char *path, void (*done)(void *data, int code, const char *text), void *data);
/// Calls `changed` for each change of the file, from the call of `done` on until the library detaches.
void echo_watch_file(
    echo_library *, const char *path, void (*changed)(void *data, const char *change),
    void (*done)(void *data, int code, const char *text), void *data);
/// Runs a program, and calls `done` with its exit code and its output. No handler of SIGCHLD is needed or touched.
void echo_run(
    echo_library *, const char *program, const char *argument,
    void (*done)(void *data, int code, const char *text), void *data);
