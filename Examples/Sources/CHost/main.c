// A C program with a loop and a timer of its own, which lets a Swift library serve TCP and UDP, read and watch a file, and
// run programs on that loop.
//
// It talks to the server as a client, has each of the others once, then attaches and detaches a thousand times, and fails
// unless descriptors, active handles and memory are afterwards what they were after two hundred times, no child is left, and
// the loop can be closed.

#include "echo_library.h"
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static uv_loop_t loop;
static int ticks, calls, is_closed, is_detached;
static char received[64];

static void check(int condition, const char *what) {
    if (condition) return;
    printf("C host: FAILED: %s\n", what);
    exit(1);
}

// The host's own timer. A turn calls what is due before it waits. What is called stops the turn, which would then wait
// for ever if that was the last to come.
static void on_tick(uv_timer_t *timer) {
    if (++ticks == 5) uv_timer_stop(timer);
    uv_stop(&loop);
}

static void on_call(int milliseconds) {
    calls += milliseconds;
    uv_stop(&loop);
}

static void on_detached(void *data) { *(int *)data = 1; }

// A client of the server, on the same loop.
static void on_allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
    static char bytes[64];
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void on_close(uv_handle_t *client) { is_closed = 1; }

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    if (count > 0) strncat(received, buffer->base, count);
    if (count < 0 || strcmp(received, "hello from C") == 0) uv_close((uv_handle_t *)stream, on_close);
}

static void on_connected(uv_connect_t *request, int status) {
    check(status == 0, "could not connect");
    uv_buf_t bytes = uv_buf_init("hello from C", 12);
    check(uv_try_write(request->handle, &bytes, 1) == 12, "could not write");
    check(uv_read_start(request->handle, on_allocate, on_read) == 0, "could not read");
}

static void talk(int port) {
    uv_tcp_t client;
    uv_connect_t request;
    struct sockaddr_in address;
    received[0] = 0;
    uv_ip4_addr("127.0.0.1", port, &address);
    uv_tcp_init(&loop, &client);
    uv_tcp_connect(&request, &client, (struct sockaddr *)&address, on_connected);
    for (is_closed = 0; !is_closed;) uv_run(&loop, UV_RUN_ONCE);
    check(strcmp(received, "hello from C") == 0, "the server does not echo");
}

static void talk_by_datagrams(int port) {
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", port, &address);
    int client = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    check(connect(client, (struct sockaddr *)&address, sizeof address) == 0, "could not connect by UDP");
    check(send(client, "hello by UDP", 12, 0) == 12, "could not send a datagram");
    char answer[64];
    ssize_t count;
    while ((count = recv(client, answer, sizeof answer, 0)) < 0) uv_run(&loop, UV_RUN_NOWAIT);
    check(count == 12 && memcmp(answer, "hello by UDP", 12) == 0, "the server does not send back a datagram");
    close(client);
}

// What the library has said last, and how often.
struct answer {
    int count, code;
    char text[256];
};

static void on_done(void *data, int code, const char *text) {
    struct answer *answer = data;
    answer->count++;
    answer->code = code;
    snprintf(answer->text, sizeof answer->text, "%s", text);
    uv_stop(&loop);
}

static void on_change(void *data, const char *change) { on_done(data, 1, change); }

static void wait_for(const struct answer *answer, int count, int code, const char *text) {
    while (answer->count < count) uv_run(&loop, UV_RUN_ONCE);
    if (answer->code != code || strcmp(answer->text, text) != 0) check(0, answer->text);
}

static char file[] = "/tmp/uvfutures-XXXXXX";

static void write_file(const char *text) {
    FILE *stream = fopen(file, "w");
    fputs(text, stream);
    fclose(stream);
}

static void use_files(echo_library *library) {
    struct answer answer = {0};
    write_file("one");
    echo_read_file(library, file, on_done, &answer);
    wait_for(&answer, 1, 0, "one");
    // What it sees until the library detaches comes here.
    static struct answer watched;
    watched = (struct answer){0};
    echo_watch_file(library, file, on_change, on_done, &watched);
    wait_for(&watched, 1, 0, "");
    char change[64];
    snprintf(change, sizeof change, "modified %s", file + strlen("/tmp/"));
    write_file("two");
    wait_for(&watched, 2, 1, change);
}

static void run_programs(echo_library *library) {
    struct answer answer = {0};
    echo_run(library, "/bin/echo", "from a child", on_done, &answer);
    wait_for(&answer, 1, 0, "from a child\n");
    echo_run(library, "/bin/false", "", on_done, &answer);
    wait_for(&answer, 2, 1, "");
    // Left to the library, which ends it when it detaches.
    echo_run(library, "/bin/sleep", "1000", on_done, &answer);
}

static echo_library *attach(void) {
    char message[1024];
    echo_library *library = echo_attach(&loop, uv_version_string, message, sizeof message);
    check(library != NULL, message);
    return library;
}

static void detach(echo_library *library) {
    is_detached = 0;
    echo_detach(library, on_detached, &is_detached);
    uv_run(&loop, UV_RUN_DEFAULT);
    check(is_detached, "the library did not say that it has detached");
}

static int open_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

// Each of so many times with a server, and each of some of them with files and programs.
static void cycle(int count, int some) {
    for (int i = 0; i < count; i++) {
        echo_library *library = attach();
        talk(echo_port(library));
        talk_by_datagrams(echo_port(library));
        if (i % some == 0) {
            use_files(library);
            run_programs(library);
        }
        detach(library);
    }
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_loop_init(&loop);
    uv_timer_t timer;
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_tick, 1, 1);

    echo_library *library = attach();
    talk(echo_port(library));
    talk_by_datagrams(echo_port(library));
    echo_call_later(library, 3, on_call);
    echo_call_later(library, 2, on_call);
    while (ticks < 5 || calls < 5) uv_run(&loop, UV_RUN_ONCE);
    close(mkstemp(file));
    use_files(library);
    run_programs(library);
    detach(library);
    check(!uv_loop_alive(&loop), "the loop is still alive");

    // Enough for the threads of the library, too, to have the memory that they keep for later.
    cycle(200, 1);
    int descriptors = open_descriptors();
    size_t memory = mallinfo2().uordblks;
    unsigned handles = loop.active_handles;
    cycle(1000, 10);
    // A thread of the library may have had one for a moment when they were counted first.
    check(open_descriptors() <= descriptors, "descriptors were left open");
    check(loop.active_handles == handles, "handles were left active");
    check(mallinfo2().uordblks <= memory + 12000, "memory was left allocated");
    check(waitpid(-1, NULL, WNOHANG) == -1, "a child was left");
    unlink(file);

    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    check(uv_loop_close(&loop) == 0, "uv_loop_close found something left");
    puts("C host: passed");
    return 0;
}
