#include "load.h"
#include <stdio.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    check(clock_gettime(clock, &time), "clock_gettime");
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

uint64_t now(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t server_cpu(void) {
    clockid_t clock;
    if (server_pid == 0) return 0;
    require(clock_getcpuclockid(server_pid, &clock) == 0, "no such server process");
    return read_clock(clock);
}

uint64_t server_memory(void) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", server_pid);
    FILE *file = fopen(path, "r");
    check(file == NULL ? -1 : 0, path);
    long kilobytes = -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file)) sscanf(line, "Private_Dirty: %ld kB", &kilobytes);
    fclose(file);
    require(kilobytes >= 0, "the system does not say what the server's memory is");
    return kilobytes * 1024ull;
}
