#!/usr/bin/env -S python3 -B
"""Measures the CPU time of a server for each command of redis-benchmark, beside Redis, in interleaved rounds. Appends the
samples to a file; samples.py tells the format.
usage: keyvalue.py --rounds N [--commands N] FILE"""

import argparse
import os
import pathlib
import socket
import subprocess

import about
import samples
from servers import BUILD

TABLE = "CPU per command"
OURS = BUILD / "programs/release/KeyValueServer"
DEPTHS = {1: "one deep", 16: "16 deep", 64: "64 deep"}
COMMANDS = ["GET", "SET", "INCR"]
CLIENTS = 50


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start(peer):
    """Starts a server on the first core. It keeps nothing on the disk."""
    port = free_port()
    if peer == "ours":
        command = [OURS, "--port", str(port)]
    else:
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except ConnectionRefusedError:
            if server.poll() is not None:
                raise SystemExit(f"{peer} does not start")


def cpu(process):
    """The nanoseconds that all threads of a process have run."""
    tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def load(port, command, depth, count):
    words = ["redis-benchmark", "-p", str(port), "-t", command.lower(), "-n", str(count), "-P", str(depth)]
    subprocess.run(["taskset", "-c", str(os.cpu_count() - 1), *words, "-c", str(CLIENTS), "-r", "100000", "-q"],
                   check=True, stdout=subprocess.DEVNULL)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", help="to append to")
parser.add_argument("--rounds", type=int, default=11)
parser.add_argument("--commands", type=int, default=200_000, help="of each figure, one deep; four times as many otherwise")
options = parser.parse_args()

peers = ["ours", "Redis"]
servers = {peer: start(peer) for peer in peers}
try:
    version = subprocess.run(["redis-server", "--version"], capture_output=True, text=True).stdout.split()[2]
    entry = about.here("make bench TOPIC=programs")
    entry.setdefault("versions", {})["Redis"] = version.removeprefix("v=")
    samples.append(options.file, {"about": {**entry, "references": {TABLE: "Redis"}}})
    for server, port in servers.values():
        load(port, "SET", 16, options.commands)
    for number in range(1, options.rounds + 1):
        for depth, deep in DEPTHS.items():
            count = options.commands * (1 if depth == 1 else 4)
            for command in COMMANDS:
                for peer in peers if number % 2 else reversed(peers):
                    server, port = servers[peer]
                    before = cpu(server.pid)
                    load(port, command, depth, count)
                    value = (cpu(server.pid) - before) // count
                    samples.append(options.file, dict(
                        table=TABLE, figure=f"{command}, {CLIENTS} clients, {deep}", peer=peer, round=number, value=value,
                        unit="ns"))
finally:
    for server, _ in servers.values():
        server.terminate()
        server.wait()
