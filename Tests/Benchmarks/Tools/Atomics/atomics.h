// What the files of the counter of atomic operations share.

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

// instruction.c: what one instruction does to memory.
typedef struct {
    bool is_atomic;
    int length;         // in bytes; the rest counts for an atomic one only
    int base, index;    // registers as the processor numbers them, or NONE
    int scale;
    int64_t displacement;
    bool is_relative;   // to the next instruction
    bool is_of_thread;  // relative to what is the thread's own
} instruction_t;

enum { NONE = -1, LONGEST = 15 };

instruction_t decode(const uint8_t *bytes);
uint64_t address_of(const instruction_t *instruction, const struct user_regs_struct *registers);

// client.c: the client of the server, which is an echo server.
void require(bool holds, const char *what);
int connect_to(int port);
void round_trip(int descriptor);
// A connection that carries one message.
void short_connection(int port);

// stepping.c: the threads of the server's loops.
void seize_loops(pid_t server);
// Steps through the loops until `client` ends. Prints how many atomic operations they did for each of `count`, and how
// many of these were on memory on which another loop did some, too.
void step_until_end(pid_t client, const char *what, long count);
