// A C program that loads a Swift library, has it serve on the loop of a thread, and unloads it as that ends: three times
// one after another, and fails unless the library answers each time. Once it lets it go in the middle of things.
// usage: unload LIBRARY

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static const char *file;
static int calls;

static void check(int condition, const char *what) {
    if (condition) return;
    printf("C host, unload: FAILED: %s\n", what);
    exit(1);
}

static void on_call(int milliseconds) { calls++; }

static void on_detached(void *data) { *(int *)data = 1; }

// On the host's loop, or, if `own`, on one of the library's.
static void use(void *library, int own) {
    void *(*attach)(uv_loop_t *, const char *(*)(void), char *, int) = dlsym(library, "echo_attach");
    void *(*start)(char *, int) = dlsym(library, "echo_start");
    void (*detach)(void *, void (*)(void *), void *) = dlsym(library, "echo_detach");
    void (*stop)(void *) = dlsym(library, "echo_stop");
    void (*call_later)(void *, int, void (*)(int)) = dlsym(library, "echo_call_later");
    void (*turn)(void *) = dlsym(library, "echo_turn");
    char message[1024];
    uv_loop_t loop;
    uv_loop_init(&loop);
    void *server = own ? start(message, sizeof message) : attach(&loop, uv_version_string, message, sizeof message);
    check(server != NULL, message);
    calls = 0;
    call_later(server, 1, on_call);
    while (!calls) {
        if (own) turn(server);
        else uv_run(&loop, UV_RUN_NOWAIT);
    }
    int is_detached = own;
    if (own) stop(server);
    else detach(server, on_detached, &is_detached);
    uv_run(&loop, UV_RUN_DEFAULT);
    check(is_detached, "the library did not say that it has detached");
    check(uv_loop_close(&loop) == 0, "uv_loop_close found something left");
}

static void *run(void *own) {
    void *library = dlopen(file, RTLD_NOW);
    check(library != NULL, "the library could not be loaded");
    use(library, own != NULL);
    dlclose(library);
    return NULL;
}

int main(int count, char **arguments) {
    file = arguments[1];
    for (int i = 0; i < 6; i++) {
        pthread_t thread;
        // A loop of its own first: the first use of the library has to keep it.
        pthread_create(&thread, NULL, run, i % 2 ? NULL : (void *)file);
        pthread_join(thread, NULL);
    }
    puts("C host, unload: passed");
    return 0;
}
