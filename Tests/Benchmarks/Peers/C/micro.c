// The floor to measure against: what Sources/Micro measures, as one writes it in C on libuv; figures of the same names.
//
// Usage: micro FIGURE COUNT; without arguments it prints the figures' names.

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

enum { CHAIN_LENGTH = 10, TIMERS = 10000, BATCH = 100000, BURST = 1000 };

static uv_loop_t loop;

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *allocated(size_t size) {
    void *block = malloc(size);
    require(block != NULL, "no memory");
    return block;
}

// A continuation: a block of its own with a function, run when the one before it has its value.

typedef struct continuation {
    long (*run)(long value);
    struct continuation *next;
} continuation_t;

static long add_one(long value) { return value + 1; }

static continuation_t *make_chain(long length) {
    continuation_t *first = NULL;
    for (long i = 0; i < length; i++) {
        continuation_t *made = allocated(sizeof *made);
        *made = (continuation_t){add_one, first};
        first = made;
    }
    return first;
}

static long complete(continuation_t *first, long value) {
    while (first != NULL) {
        continuation_t *next = first->next;
        value = first->run(value);
        free(first);
        first = next;
    }
    return value;
}

static void promise(long count) {
    for (long i = 0; i < count; i++) require(complete(make_chain(1), 1) == 2, "wrong value");
}

static void map_pending(long count) {
    for (long i = 0; i < count / CHAIN_LENGTH; i++)
        require(complete(make_chain(CHAIN_LENGTH), 1) == 1 + CHAIN_LENGTH, "wrong value");
}

// Timers: one handle each.

static void do_nothing(uv_timer_t *timer) { (void)timer; }

static long fired;

static void on_fired(uv_timer_t *timer) {
    (void)timer;
    fired++;
}

static uv_timer_t *make_timers(long count) {
    uv_timer_t *timers = allocated(count * sizeof *timers);
    for (long i = 0; i < count; i++) uv_timer_init(&loop, &timers[i]);
    return timers;
}

static void free_timers(uv_timer_t *timers, long count) {
    for (long i = 0; i < count; i++) uv_close((uv_handle_t *)&timers[i], NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    free(timers);
}

static void timer_cancel(long count) {
    uv_timer_t *timer = make_timers(1);
    for (long i = 0; i < count; i++) {
        uv_timer_start(timer, do_nothing, 60000, 0);
        uv_timer_stop(timer);
    }
    free_timers(timer, 1);
}

static void timer_replace(long count) {
    uv_timer_t *timers = make_timers(TIMERS);
    for (long i = 0; i < TIMERS; i++) uv_timer_start(&timers[i], do_nothing, 60000 + i, 0);
    for (long i = 0; i < count; i++) {
        long index = i * 7919 % TIMERS;
        uv_timer_stop(&timers[index]);
        uv_timer_start(&timers[index], do_nothing, 60000 + index, 0);
    }
    free_timers(timers, TIMERS);
}

static void fire(long count, long size) {
    for (long done = 0; done + size <= count; done += size) {
        uv_timer_t *timers = make_timers(size);
        fired = 0;
        uv_update_time(&loop);
        for (long i = 0; i < size; i++) uv_timer_start(&timers[i], on_fired, i * 7919 % 100003 / 50000, 0);
        uv_run(&loop, UV_RUN_DEFAULT);
        require(fired == size, "timers were lost");
        free_timers(timers, size);
    }
}

static void timer_fire(long count) { fire(count, count < BATCH ? count : BATCH); }
static void one_timer_heap(long count) { fire(count, count); }

// A queue of jobs, each a block of its own, to a loop on another thread.

typedef struct job {
    void (*run)(struct job *job);
    struct job *next;
} job_t;

static uv_mutex_t mutex;
static job_t *first_job, **last_job = &first_job;
static uv_async_t async;
static uv_sem_t is_busy, may_go_on, ended;
static long remaining;

static void submit_job(void (*run)(job_t *job)) {
    job_t *job = allocated(sizeof *job);
    *job = (job_t){run, NULL};
    uv_mutex_lock(&mutex);
    int was_empty = first_job == NULL;
    *last_job = job;
    last_job = &job->next;
    uv_mutex_unlock(&mutex);
    if (was_empty) uv_async_send(&async);
}

static void run_jobs(uv_async_t *handle) {
    (void)handle;
    uv_mutex_lock(&mutex);
    job_t *job = first_job;
    first_job = NULL;
    last_job = &first_job;
    uv_mutex_unlock(&mutex);
    while (job != NULL) {
        job_t *next = job->next;
        job->run(job);
        free(job);
        job = next;
    }
}

static void count_down(job_t *job) {
    (void)job;
    if (--remaining == 0) uv_sem_post(&ended);
}

static void keep_busy(job_t *job) {
    (void)job;
    uv_sem_post(&is_busy);
    uv_sem_wait(&may_go_on);
}

static void end_loop(job_t *job) {
    (void)job;
    uv_close((uv_handle_t *)&async, NULL);
}

static void run_loop(void *argument) {
    (void)argument;
    uv_run(&loop, UV_RUN_DEFAULT);
}

static uv_thread_t start_loop(void) {
    uv_thread_t thread;
    uv_mutex_init(&mutex);
    uv_sem_init(&is_busy, 0);
    uv_sem_init(&may_go_on, 0);
    uv_sem_init(&ended, 0);
    uv_async_init(&loop, &async, run_jobs);
    require(uv_thread_create(&thread, run_loop, NULL) == 0, "no thread");
    return thread;
}

static void stop_loop(uv_thread_t thread) {
    submit_job(end_loop);
    uv_thread_join(&thread);
}

static long jobs_of_each;

static void submit_jobs(void *argument) {
    (void)argument;
    for (long i = 0; i < jobs_of_each; i++) submit_job(count_down);
}

static void submit_from(long count, int thread_count) {
    uv_thread_t loop_thread = start_loop(), threads[8];
    jobs_of_each = count / thread_count;
    remaining = jobs_of_each * thread_count;
    for (int i = 0; i < thread_count; i++) uv_thread_create(&threads[i], submit_jobs, NULL);
    uv_sem_wait(&ended);
    for (int i = 0; i < thread_count; i++) uv_thread_join(&threads[i]);
    stop_loop(loop_thread);
}

static void submit_one(long count) { submit_from(count, 1); }
static void submit_eight(long count) { submit_from(count, 8); }

static void submit_bursts(long count) {
    uv_thread_t thread = start_loop();
    for (long start = 0; start < count; start += BURST) {
        long size = count - start < BURST ? count - start : BURST;
        submit_job(keep_busy);
        uv_sem_wait(&is_busy);
        remaining = size;
        for (long i = 0; i < size; i++) submit_job(count_down);
        uv_sem_post(&may_go_on);
        uv_sem_wait(&ended);
    }
    stop_loop(thread);
}

static const struct {
    const char *name;
    void (*run)(long count);
} figures[] = {
    {"promise", promise},
    {"map-pending", map_pending},
    {"timer-cancel", timer_cancel},
    {"timer-replace", timer_replace},
    {"timer-fire", timer_fire},
    {"submit", submit_one},
    {"submit-8-threads", submit_eight},
    {"submit-bursts", submit_bursts},
    {"one-timer-heap", one_timer_heap},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc == 1)
        for (int i = 0; i < FIGURES; i++) puts(figures[i].name);
    if (argc == 1) return 0;
    if (argc != 3) return fprintf(stderr, "usage: %s [FIGURE COUNT]\n", argv[0]), 2;
    int index = 0;
    while (index < FIGURES && strcmp(figures[index].name, argv[1]) != 0) index++;
    if (index == FIGURES) {
        fprintf(stderr, "no figure \"%s\"; there are", argv[1]);
        for (int i = 0; i < FIGURES; i++) fprintf(stderr, "%s %s", i ? "," : "", figures[i].name);
        fputc('\n', stderr);
        return 2;
    }
    char *end;
    long count = strtol(argv[2], &end, 10);
    if (*end || count <= 0) return fprintf(stderr, "\"%s\" is no positive number\n", argv[2]), 2;

    uv_loop_init(&loop);
    figures[index].run(1000); // to warm up
    double start = now(CLOCK_MONOTONIC), processor_start = now(CLOCK_PROCESS_CPUTIME_ID);
    figures[index].run(count);
    double elapsed = now(CLOCK_MONOTONIC) - start, processor = now(CLOCK_PROCESS_CPUTIME_ID) - processor_start;
    printf("%f %f\n", elapsed / count, processor / count);
}
