#pragma once
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct tried_thread {
    pthread_t thread;
    pthread_mutex_t *gate;
    int id;
};

static inline void *wait_at_gate(void *tried) {
    struct tried_thread *self = tried;
    self->id = (int)syscall(SYS_gettid);
    pthread_mutex_lock(self->gate);
    pthread_mutex_unlock(self->gate);
    return NULL;
}

/// Whether `count` threads can be there at a time: zero, or the error. They are all gone when this returns.
static inline int try_threads(int count) {
    struct tried_thread *tried = calloc((size_t)count, sizeof *tried);
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    sigset_t all, before;
    int error = 0, started = 0;
    // The threads get no signal of the process.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&gate);
    while (error == 0 && started < count) {
        tried[started].gate = &gate;
        error = pthread_create(&tried[started].thread, NULL, wait_at_gate, &tried[started]);
        if (error == 0) started++;
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++) {
        pthread_join(tried[i].thread, NULL);
        // A thread counts for the limits of the system a little longer.
        while (syscall(SYS_tgkill, getpid(), tried[i].id, 0) == 0) sched_yield();
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(tried);
    return error;
}

/// Blocks SIGPIPE on the calling thread, once: whoever lets it through again shall have it so.
static inline void block_broken_pipes(void) {
    static __thread bool has_been_blocked;
    if (has_been_blocked) return;
    has_been_blocked = true;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static inline void let_broken_pipes_through(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/// Cut off after 15 bytes.
static inline void set_thread_name(const char *name) {
    prctl(PR_SET_NAME, name);
}
