#!/usr/bin/env -S python3 -B
"""Measures echo servers, in interleaved rounds, and appends the samples to a file; samples.py tells the format. Rounds that
are in the file already count too: these go on after them.

A round starts each server anew and plays each scenario to all of them, one after another, in an order that rotates and
turns round, so that whatever drifts drifts for all.
"""

import argparse
import contextlib
import resource
import shlex
import sys

import about
import samples
import servers
from load import IDLE, TOPICS, generate
from order import order

TABLES = {
    "CPU per round trip": ("cpuNanoseconds", "ns"),
    "Round trips per second": ("perSecond", "1/s"),
    "Latency, p50": ("p50Microseconds", "µs"),
    "Latency, p90": ("p90Microseconds", "µs"),
    "Latency, p99": ("p99Microseconds", "µs"),
    "Latency, p99.9": ("p999Microseconds", "µs"),
}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="to append to")
    parser.add_argument("--topic", choices=TOPICS, default="echo", help="echo: our ways to read; the others: tasks")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--memory-rounds", type=int, default=5, help="of those, that measure idle connections too")
    parser.add_argument("--scale", type=float, default=1, help="of the number of round trips")
    parser.add_argument(
        "--server", action="append", help="only these; one named twice shows the noise"
    )
    parser.add_argument("--scenario", action="append", help="only these")
    options = parser.parse_args()
    for name in options.server or []:
        if name not in servers.TOPICS[options.topic]:
            parser.error(f"no server {name}; there are {', '.join(servers.TOPICS[options.topic])}")
    for figure in options.scenario or []:
        if figure not in [scenario.figure for scenario in TOPICS[options.topic]]:
            parser.error(f"no scenario {figure}")
    if options.rounds < 1 or options.memory_rounds < 0 or options.scale <= 0:
        parser.error("the rounds and the scale are positive numbers")
    return options


def peers(topic, names):
    """Title → command. The second of a name gets another title."""
    commands = {}
    for name in names:
        commands[f"{name}, again" if name in commands else name] = servers.TOPICS[topic][name]
    return commands


class Measurement:
    def __init__(self, options):
        self.options = options
        self.commands = peers(options.topic, options.server or servers.present(options.topic))
        self.suffix = "" if options.topic == "echo" else f", {options.topic}"
        self.server_core, self.load_core = servers.two_cores()

    def record(self, table, figure, peer, number, value, unit):
        entry = {"table": table + self.suffix, "figure": figure, "peer": peer, "round": number, "value": value, "unit": unit}
        samples.append(self.options.file, entry)

    def round_trips(self, number):
        names = order(list(self.commands), number)
        with contextlib.ExitStack() as stack:
            running = {
                name: stack.enter_context(servers.Server(self.commands[name], self.server_core)) for name in names
            }
            for scenario in TOPICS[self.options.topic]:
                if self.options.scenario and scenario.figure not in self.options.scenario:
                    continue
                trips = max(1, round(scenario.round_trips * self.options.scale))
                for name in names:
                    result = generate(running[name], self.load_core, f"{scenario.options} --round-trips {trips}")
                    for table, (key, unit) in TABLES.items():
                        self.record(table, scenario.figure, name, number, result[key], unit)

    def memory(self, number):
        for name in order(list(self.commands), number):
            with servers.Server(self.commands[name], self.server_core) as server:
                result = generate(server, self.load_core, f"--idle --connections {IDLE}")
            value = result["bytesPerConnection"]
            self.record("Memory per idle connection", f"{IDLE:,} connections", name, number, value, "B")


def main():
    options = read_options()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if options.memory_rounds and hard != resource.RLIM_INFINITY and hard < IDLE + 1000:
        sys.exit(f"{IDLE} connections need more descriptors than the {hard} allowed (ulimit -Hn)")
    measurement = Measurement(options)
    facts = about.here(shlex.join(["Runner/echo.py", *sys.argv[1:]]))
    before = samples.last_round(options.file)
    reference = "C recvmmsg" if options.topic == "datagrams" else "C libuv"
    references = {f"CPU per round trip{measurement.suffix}": reference}
    samples.append(options.file, {"about": facts | {"references": references}})
    for number in range(1, options.rounds + 1):
        print(f"round {number} of {options.rounds}", file=sys.stderr)
        measurement.round_trips(before + number)
        if number <= options.memory_rounds:
            measurement.memory(before + number)


main()
