#!/usr/bin/env -S python3 -B
"""Counts the instructions that each native echo server spends in user space on a round trip of 64 bytes, and appends
them to a file; samples.py tells the format. With one connection, strictly ping-pong, the figure repeats.
"""

import argparse
import re
import shlex
import subprocess
import sys

import about
import samples
import servers
from load import generate

SHORT, LONG = 1_000, 6_000  # round trips: what a server does once is in both


def stripped(command):
    """Debian 12's valgrind gives up on the debug information that Swift writes."""
    program = servers.BUILD / "stripped"
    subprocess.run(["strip", "--strip-debug", "-o", program, command[0]], check=True)
    return [program, *command[1:]]


def collected(command, options):
    """The instructions of a whole run, and the messages echoed in it."""
    log = servers.BUILD / "callgrind.log"
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
    server_core, load_core = servers.two_cores()
    with servers.Server([*callgrind, *stripped(command)], server_core) as server:
        messages = generate(server, load_core, options)["messages"]
    found = re.search(r"Collected : (\d+)", log.read_text())
    if not found:
        sys.exit(f"{log} has no count of instructions")
    return int(found[1]), messages


def per_round_trip(command, connections):
    (less, few), (more, many) = (
        collected(command, f"--connections {connections} --round-trips {trips}") for trips in (SHORT, LONG)
    )
    return round((more - less) / (many - few))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="to append to")
    parser.add_argument("--topic", choices=servers.NATIVE_TOPICS, default="echo")
    parser.add_argument("--server", action="append", help="only these")
    parser.add_argument("--connections", action="append", type=int, choices=[1, 50], help="only so many")
    return parser.parse_args()


def main():
    options = read_options()
    samples.append(options.file, {"about": about.here(shlex.join(["Runner/instructions.py", *sys.argv[1:]]))})
    commands = servers.NATIVE_TOPICS[options.topic]
    suffix = "" if options.topic == "echo" else f", {options.topic}"
    for connections in options.connections or (1, 50):
        for peer in options.server or commands:
            sample = {
                "table": f"User instructions per round trip{suffix}",
                "figure": f"{connections} × 64 B",
                "peer": peer,
                "round": 0,
                "value": per_round_trip(commands[peer], connections),
            }
            samples.append(options.file, sample)


main()
