"""The echo servers that are compared. Each runs on one thread, picks a port and says `listening on HOST:PORT`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BUILD = HERE / ".build"
PYTHON = "/usr/bin/python3"  # Debian's, for which its uvloop is

OURS = {
    f"ours: {reading}": [BUILD / "release/Echo", "--read", reading]
    for reading in ("data", "chunks", "spans", "sequence")
}
NATIVE = OURS | {
    "C libuv": [BUILD / "c/echo"],
    "C epoll": [BUILD / "c/epoll"],
    "SwiftNIO": [BUILD / "nio/release/NIOEcho"],
}
COMMANDS = NATIVE | {
    "Node.js": ["node", HERE / "Peers/Node/echo.js"],
    "uvloop": [PYTHON, "-B", HERE / "Peers/Python/echo.py"],
}
ISOLATIONS = {"main": "main actor", "nothing": "no isolation", "actor": "actor on the loop", "task": "own task"}
ASYNCHRONOUS = {
    f"ours: {title}": [BUILD / "asynchronous/release/AsyncEcho", isolation] for isolation, title in ISOLATIONS.items()
}
# Without SwiftNIO's, of which Debian 12's valgrind crashes.
ASYNCHRONOUS_NATIVE = ASYNCHRONOUS | {
    "C libuv": [BUILD / "c/echo"],
    "tokio": [BUILD / "tokio/release/echo"],
}
ASYNCHRONOUS_COMMANDS = ASYNCHRONOUS_NATIVE | {
    "SwiftNIO": [BUILD / "nio/release/NIOAsyncEcho"],
    "Go": [BUILD / "go/echo"],
}

DATAGRAMS = {
    f"ours: {reading}": [BUILD / "release/DatagramEcho", "--read", reading]
    for reading in ("spans", "futures", "receive", "sequence")
} | {
    "ours: one by one": [BUILD / "one-by-one/release/DatagramEcho", "--read", "spans"],
    "C recvmmsg": [BUILD / "c/datagrams"],
    "C one by one": [BUILD / "c/datagrams", "--single"],
    "Node.js": ["node", HERE / "Peers/Node/datagrams.js"],
    "uvloop": [PYTHON, "-B", HERE / "Peers/Python/datagrams.py"],
}

# Each takes the files of a certificate and of its key, and serves plain connections, too.
TLS = {
    "ours: chunks": [BUILD / "release/TLSEcho", "--read", "chunks"],
    "ours: spans": [BUILD / "release/TLSEcho", "--read", "spans"],
    "ours: keys on the pool": [BUILD / "release/TLSEcho", "--read", "chunks", "--pool"],
    "C OpenSSL": [BUILD / "c/tls"],
    "SwiftNIO SSL": [BUILD / "nio/release/NIOTLSEcho"],
    "Node.js": ["node", HERE / "Peers/Node/tls.js"],
}

# What is compared: TOPIC → name → command. In C nobody reads lines otherwise than bytes.
TOPICS = {
    "echo": COMMANDS,
    "asynchronous": ASYNCHRONOUS_COMMANDS,
    "datagrams": DATAGRAMS,
    "tls": TLS,
    "lines": {
        name: command if name == "C libuv" else [*command, "--lines"]
        for name, command in ASYNCHRONOUS_COMMANDS.items()
    },
}
NATIVE_TOPICS = {"echo": NATIVE, "asynchronous": ASYNCHRONOUS_NATIVE}


def present(topic):
    """The names of those that can run here; says which cannot."""
    found = []
    for name, command in TOPICS[topic].items():
        if name == "uvloop":
            is_there = subprocess.run([PYTHON, "-c", "import uvloop"], stderr=subprocess.DEVNULL).returncode == 0
        else:
            is_there = shutil.which(command[0])
        if is_there:
            found.append(name)
        else:
            print(f"{name} is not installed, and left out", file=sys.stderr)
    return found


def two_cores():
    """One for the server, another for the load generator."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("the server and the load generator need a core each, and there is one")
    return cores[0], cores[1]


class Server:
    """A running server, which ends with the `with` statement."""

    def __init__(self, command, core):
        self.process = subprocess.Popen(
            ["taskset", "-c", str(core), *map(str, command)], stdout=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid
        for line in self.process.stdout:
            if line.startswith("plain on "):
                self.plain_port = line.strip().rpartition(":")[2]
            if line.startswith("listening on "):
                self.port = line.strip().rpartition(":")[2]
                return
        sys.exit(f"{' '.join(map(str, command))} did not say that it listens")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
