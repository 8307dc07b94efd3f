// Steps through each instruction of the threads that run the server's loops.

#define _GNU_SOURCE
#include "atomics.h"
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { KNOWN = 1 << 18, MOST = 1 << 22, LINE = 64 };

typedef struct {
    uint64_t line; // of the processor's caches
    pid_t thread;
} operation_t;

static pid_t server;
static struct {
    uint64_t address;
    instruction_t instruction;
} known[KNOWN];
static operation_t operations[MOST];
static long operation_count;

static void read_memory(uint64_t address, void *bytes, size_t size) {
    struct iovec here = {bytes, size}, there = {(void *)address, size};
    // What follows the last page of the code may be missing.
    if (process_vm_readv(server, &here, 1, &there, 1, 0) > 0) return;
    here.iov_len = there.iov_len = 4096 - address % 4096;
    require(process_vm_readv(server, &here, 1, &there, 1, 0) > 0, "process_vm_readv");
}

static const instruction_t *instruction_at(uint64_t address) {
    uint64_t slot = address * 0x9E3779B97F4A7C15ull >> 46;
    while (known[slot].address && known[slot].address != address) slot = (slot + 1) % KNOWN;
    if (!known[slot].address) {
        uint8_t bytes[LONGEST] = {0};
        read_memory(address, bytes, sizeof bytes);
        known[slot].address = address;
        known[slot].instruction = decode(bytes);
    }
    return &known[slot].instruction;
}

// Whether a thread runs a loop: the first of each name, since threads inherit the name of the one that made them.
static bool is_loop(const char *thread) {
    static bool is_known[1024];
    unsigned number;
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%s/comm", server, thread);
    FILE *file = fopen(path, "r");
    require(file && fgets(name, sizeof name, file), path);
    fclose(file);
    if (sscanf(name, "loop-%u", &number) != 1 || number >= 1024 || is_known[number]) return false;
    return is_known[number] = true;
}

void seize_loops(pid_t process) {
    char path[64];
    server = process;
    snprintf(path, sizeof path, "/proc/%d/task", server);
    DIR *threads = opendir(path);
    require(threads, path);
    // A step is two switches between this process and the thread, which take longer from one processor to another.
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(sched_getcpu(), &processors);
    sched_setaffinity(0, sizeof processors, &processors);
    for (struct dirent *entry; (entry = readdir(threads));) {
        if (entry->d_name[0] == '.' || !is_loop(entry->d_name)) continue;
        pid_t thread = atoi(entry->d_name);
        sched_setaffinity(thread, sizeof processors, &processors);
        require(ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_EXITKILL) == 0, "ptrace");
        ptrace(PTRACE_INTERRUPT, thread, 0, 0);
    }
    closedir(threads);
}

static void step(pid_t thread) {
    struct user_regs_struct registers;
    require(ptrace(PTRACE_GETREGS, thread, 0, &registers) == 0, "ptrace");
    const instruction_t *instruction = instruction_at(registers.rip);
    if (instruction->is_atomic) {
        if (operation_count == MOST) exit(1);
        operations[operation_count++] = (operation_t){address_of(instruction, &registers) / LINE, thread};
    }
    ptrace(PTRACE_SINGLESTEP, thread, 0, 0);
}

static int compare(const void *left, const void *right) {
    uint64_t a = ((const operation_t *)left)->line, b = ((const operation_t *)right)->line;
    return a < b ? -1 : a > b;
}

static long count_shared(void) {
    long shared = 0, end;
    qsort(operations, operation_count, sizeof *operations, compare);
    for (long start = 0; start < operation_count; start = end) {
        bool is_shared = false;
        for (end = start; end < operation_count && operations[end].line == operations[start].line; end++) {
            is_shared |= operations[end].thread != operations[start].thread;
        }
        if (is_shared) shared += end - start;
    }
    return shared;
}

void step_until_end(pid_t client, const char *what, long count) {
    operation_count = 0;
    for (;;) {
        int status;
        pid_t stopped = waitpid(-1, &status, __WALL);
        if (stopped == client) {
            if (!WIFEXITED(status) || WEXITSTATUS(status)) exit(1);
            break;
        }
        require(WIFSTOPPED(status), "a loop has ended");
        step(stopped);
    }
    printf("%s %.2f %.2f\n", what, (double)operation_count / count, (double)count_shared() / count);
}
