// The load generator for echo servers on loopback. Prints one line of JSON.
//
// Usage: load --port PORT [--connections N] [--size BYTES] [--depth N] [--round-trips N] [--server-pid PID]
//             [--lines] [--tls] [--resume] [--abort] [--churn | --idle | --datagrams | --burst PLAIN-PORT]
//
// Each of N connections has DEPTH messages of SIZE bytes in flight, until ROUND-TRIPS messages came back, every byte of
// them checked; a tenth as many go before, to warm up. With --lines each message is a line. With --churn each connection
// carries one message, and N are open at a time; with --abort it is reset then. With --datagrams each is a socket of UDP. With
// --idle they stay open until the standard input ends. With --tls they are encrypted, and with --resume each handshake resumes
// the session of an earlier one. With --burst N handshakes begin at once, ROUND-TRIPS times, while another peer, at a port
// where the server speaks no TLS, sends a message each millisecond: the latencies are those of that peer.
// With the server's process id it also reports the CPU nanoseconds that the server spent per round trip, and with --idle
// the memory that it took for each connection.

#include "load.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

long port, connection_count = 50, size = 64, depth = 1, round_trips = 100000, server_pid;
int lines, tls, resumes, aborts;
static int churn, idle, datagrams;
static long burst;

static void read_options(int argc, char **argv) {
    static const struct option names[] = {
        {"port", required_argument, NULL, 0},        {"connections", required_argument, NULL, 1},
        {"size", required_argument, NULL, 2},        {"depth", required_argument, NULL, 3},
        {"round-trips", required_argument, NULL, 4}, {"server-pid", required_argument, NULL, 5},
        {"churn", no_argument, &churn, 1},           {"idle", no_argument, &idle, 1},
        {"lines", no_argument, &lines, 1},           {"datagrams", no_argument, &datagrams, 1},
        {"tls", no_argument, &tls, 1},               {"resume", no_argument, &resumes, 1},
        {"abort", no_argument, &aborts, 1},          {"burst", required_argument, NULL, 6},
        {0},
    };
    long *const values[] = {&port, &connection_count, &size, &depth, &round_trips, &server_pid, &burst};
    for (int option, index; (option = getopt_long(argc, argv, "", names, &index)) != -1;) {
        if (option == '?') exit(2);
        if (names[index].flag) continue;
        char *end;
        *values[option] = strtol(optarg, &end, 10);
        require(*end == 0 && *values[option] > 0, "an option needs a positive number");
    }
    require(optind == argc, "an argument that is no option");
    require(port > 0 && port < 65536, "--port is missing or out of range");
    require(churn + idle + datagrams + !!burst <= 1, "--churn, --idle, --datagrams and --burst exclude each other");
    require(tls || (!resumes && !burst), "--resume and --burst need --tls");
    require(churn || (!resumes && !aborts), "--resume and --abort go with --churn");
    require((!churn && !idle) || depth == 1, "--depth goes with neither --churn nor --idle");
    require(!idle || server_pid, "--idle needs --server-pid");
}

static void raise_descriptor_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void run(int epoll, connection_t *connections, long target) {
    if (datagrams) run_datagrams(epoll, target);
    else if (churn) run_churn(epoll, connections, target);
    else run_round_trips(epoll, connections, connection_count, target);
}

// Says on each connection that no more will come, and waits for the server to say the same.
static void finish(int epoll, connection_t *connections) {
    struct epoll_event events[256];
    for (long i = 0; i < connection_count; i++) end_sending(&connections[i]);
    for (long left = connection_count; left > 0;) {
        int ready = wait_for_events(epoll, events, 256);
        for (int i = 0; i < ready; i++) {
            connection_t *connection = events[i].data.ptr;
            if (receive_echoes(connection)) continue;
            close_connection(connection);
            left--;
        }
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    raise_descriptor_limit();
    make_pattern();
    int epoll = check(epoll_create1(0), "epoll_create1");
    if (idle) return run_idle(epoll), 0;
    if (burst) return run_burst(epoll, burst, round_trips), 0;

    connection_t *connections = calloc(connection_count, sizeof *connections);
    if (!churn && !datagrams) for (long i = 0; i < connection_count; i++) open_connection(&connections[i], epoll);
    run(epoll, connections, round_trips / 10);
    forget_latencies();
    resumed = 0;
    uint64_t cpu_before = server_cpu(), before = now();
    run(epoll, connections, round_trips);
    double seconds = (now() - before) / 1e9;
    double cpu = server_cpu() - cpu_before;
    if (!churn && !datagrams) finish(epoll, connections);

    printf("{\"connections\":%ld,\"size\":%ld,\"depth\":%ld,\"roundTrips\":%ld,\"seconds\":%.3f,", connection_count,
           size, depth, round_trips, seconds);
    printf("\"messages\":%ld,", round_trips + round_trips / 10);
    if (resumes) printf("\"resumedPercent\":%.2f,", 100.0 * resumed / round_trips);
    if (server_pid) printf("\"cpuNanoseconds\":%.0f,", cpu / round_trips);
    printf("\"perSecond\":%.0f,\"p50Microseconds\":%.1f,\"p90Microseconds\":%.1f,\"p99Microseconds\":%.1f,"
           "\"p999Microseconds\":%.1f}\n",
           round_trips / seconds, latency_microseconds(50), latency_microseconds(90), latency_microseconds(99),
           latency_microseconds(99.9));
}
