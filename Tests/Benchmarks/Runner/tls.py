#!/usr/bin/env -S python3 -B
"""Measures encrypted echo servers, in interleaved rounds, and appends the samples to a file; samples.py tells the format.
Fails if ours does not resume each session that a client offers, after aborts too.
usage: tls.py [--rounds N] [--few N] [--scale X] FILE"""

import argparse
import contextlib
import resource
import shlex
import subprocess
import sys
import tempfile

import about
import samples
import servers
from load import Scenario, generate
from order import order

C, OURS, POOL = "C OpenSSL", ("ours: chunks", "ours: spans"), "ours: keys on the pool"
TRIPS, CONNECTIONS = "CPU per round trip, tls", "CPU per connection of one message, tls"
RESUMED, MEMORY = "Sessions resumed, tls", "Memory per idle connection, tls"
PLAIN = "Latency of a plain peer while 1,000 handshakes are under way, tls"
SCENARIOS = {
    "ec": [
        (TRIPS, Scenario("50 × 64 B", "--connections 50", 40_000)),
        (TRIPS, Scenario("50 × 64 B, sixteen deep", "--connections 50 --depth 16", 300_000)),
        (TRIPS, Scenario("1 × 1 MiB", "--connections 1 --size 1048576", 200)),
        (CONNECTIONS, Scenario("full handshake, ECDSA", "--connections 50 --churn", 1_000)),
        (CONNECTIONS, Scenario("resumed", "--connections 50 --churn --resume", 1_500)),
        (CONNECTIONS, Scenario("resumed, after aborts", "--connections 50 --churn --resume --abort", 1_500)),
    ],
    "rsa": [(CONNECTIONS, Scenario("full handshake, RSA", "--connections 50 --churn", 1_000))],
}
# A tenth of a run goes before, to warm up, and has to bring each connection a session to resume.
FEWEST = 600
IDLE, BURST, BURSTS = 2_000, 1_000, 3
# Where it is permitted, at the priority of real time: what else runs on the machine is not to be measured. The servers share a
# core, and threads of Node.js wait for each other busily: so they take turns.
PRIORITY = ["chrt", "-r", "50"]
if subprocess.run([*PRIORITY, "true"], stderr=subprocess.DEVNULL).returncode:
    PRIORITY = []


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="to append to")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--few", type=int, default=5, help="of those, that measure idle connections and a plain peer, too")
    parser.add_argument("--scale", type=float, default=1, help="of the number of round trips")
    return parser.parse_args()


class Measurement:
    def __init__(self, options, certificates):
        self.options, self.certificates = options, certificates
        self.server_core, self.load_core = servers.two_cores()
        self.names = servers.present("tls")

    def start(self, name, kind, first=PRIORITY):
        files = [f"{self.certificates}/{kind}/server.{end}" for end in ("pem", "key")]
        return servers.Server([*first, *servers.TLS[name], *files], self.server_core)

    def record(self, table, figure, peer, number, value, unit):
        entry = {"table": table, "figure": figure, "peer": peer, "round": number, "value": value, "unit": unit}
        samples.append(self.options.file, entry)

    def round_trips(self, number, kind):
        names = order([name for name in self.names if name != POOL], number)
        with contextlib.ExitStack() as stack:
            running = {name: stack.enter_context(self.start(name, kind)) for name in names}
            for table, scenario in SCENARIOS[kind]:
                trips = max(FEWEST if table == CONNECTIONS else 1, round(scenario.round_trips * self.options.scale))
                for name in names:
                    command = f"--tls {scenario.options} --round-trips {trips}"
                    result = generate(running[name], self.load_core, command, PRIORITY)
                    self.record(table, scenario.figure, name, number, result["cpuNanoseconds"], "ns")
                    if "resumedPercent" in result:
                        self.resumed(scenario.figure, name, number, result["resumedPercent"])

    def resumed(self, figure, name, number, share):
        self.record(RESUMED, figure, name, number, share, "%")
        if share < 100 and name in OURS:
            sys.exit(f"{name} resumes {share} % of the sessions ({figure}), not all of them")

    def memory(self, number):
        for name in order([name for name in self.names if name != POOL], number):
            with self.start(name, "ec") as server:
                result = generate(server, self.load_core, f"--tls --idle --connections {IDLE}", PRIORITY)
            value = result["bytesPerConnection"]
            self.record(MEMORY, f"{IDLE:,} connections", name, number, value, "B")

    def plain_peer(self, number):
        """On any core, and at no priority: what keeps a thread of the server busy is to hold up its other threads no more
        than it would in production."""
        for name in order(self.names, number):
            with self.start(name, "rsa", []) as server:
                command = f"--tls --connections {BURST} --burst {server.plain_port} --round-trips {BURSTS}"
                result = generate(server, self.load_core, command)
            for figure, key in [("p50", "p50Microseconds"), ("p99", "p99Microseconds"), ("longest", "worstMicroseconds")]:
                self.record(PLAIN, figure, name, number, result[key], "µs")


def main():
    options = read_options()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as certificates:
        for kind, flags in [("ec", []), ("rsa", ["--rsa"])]:
            script = servers.HERE / "../../Examples/certificates.sh"
            subprocess.run([script, *flags, f"{certificates}/{kind}"], check=True, stdout=subprocess.DEVNULL)
        measurement = Measurement(options, certificates)
        facts = about.here(shlex.join(["Runner/tls.py", *sys.argv[1:]]))
        samples.append(options.file, {"about": facts | {"references": {TRIPS: C, CONNECTIONS: C}}})
        for number in range(1, options.rounds + 1):
            print(f"round {number} of {options.rounds}", file=sys.stderr)
            for kind in SCENARIOS:
                measurement.round_trips(number, kind)
            if number <= options.few:
                measurement.memory(number)
                measurement.plain_peer(number)


main()
