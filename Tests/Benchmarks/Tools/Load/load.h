// What the files of the load generator share.

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

extern long port, connection_count, size, depth, round_trips, server_pid;
extern int lines, tls, resumes, aborts;

// checks.c: whatever goes wrong ends the process with a line.
void require(bool holds, const char *what);
int64_t check(int64_t status, const char *operation);

// stream.c: one connection, each byte of which is checked.
typedef struct {
    int descriptor;
    void *session;              // of TLS, which has the handshake before the first bytes; or NULL
    uint64_t offset;            // where in the pattern this connection's stream begins
    uint64_t due, sent, echoed; // bytes: to send by now, sent, came back and were right
    uint64_t *began;            // when each message in flight was handed over for sending
} connection_t;

void make_pattern(void);
void open_connection(connection_t *connection, int epoll);
void begin_message(connection_t *connection, uint64_t time);
void send_due(connection_t *connection);
// Takes what came; false at the end of the stream.
bool receive_echoes(connection_t *connection);
// Counts the messages between two positions of the stream as answered now.
long count_answers(const connection_t *connection, uint64_t before);
void end_sending(const connection_t *connection);
void close_connection(connection_t *connection);
// Resets the connection, as a client that is gone does.
void abort_connection(connection_t *connection);

// tls.c: as the calls of the system, over an encrypted connection.
void *begin_encryption(int descriptor);
ssize_t send_encrypted(const connection_t *connection, const void *bytes, size_t count);
ssize_t receive_encrypted(const connection_t *connection, void *bytes, size_t count);
void end_encryption(const connection_t *connection); // says that this was all
void free_encryption(connection_t *connection);
extern long resumed;                                 // of the handshakes that have ended in a connection that was freed
// Makes the first message of a handshake, to be sent when it suits; then the handshake goes on over the descriptor.
size_t prepare_handshake(const connection_t *connection, void *bytes, size_t limit);
bool shake_hands(const connection_t *connection); // true when it is complete

// histogram.c: latencies.
void forget_latencies(void);
void add_latency(uint64_t nanoseconds);
double latency_microseconds(double percentile);

// process.c: the clocks, and what the server has taken.
uint64_t now(void);
uint64_t server_cpu(void);    // nanoseconds, 0 without a process id
uint64_t server_memory(void); // bytes that are its own and were written to

// The scenarios. Each sends as many messages as it is told.
int wait_for_events(int epoll, struct epoll_event *events, int limit);
void run_round_trips(int epoll, connection_t *connections, long count, long target);
void run_churn(int epoll, connection_t *connections, long target);
void run_idle(int epoll);
void run_datagrams(int epoll, long target);
void run_burst(int epoll, long plain_port, long bursts);
