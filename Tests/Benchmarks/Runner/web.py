#!/usr/bin/env -S python3 -B
"""Measures servers of HTTP/1.1, in interleaved rounds, and appends the samples to a file; samples.py tells the format. The
load is wrk's: 50 connections, each with one or with 16 requests under way.
usage: web.py --rounds N [--seconds S] FILE"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import about
import samples
from servers import BUILD, HERE, Server, two_cores

PEERS = {
    "ours": [BUILD / "programs/release/WebServer", "--port", "0"],
    "C libuv": [BUILD / "c/http"],
    "Node.js": ["node", HERE / "Peers/Node/http.js"],
    "SwiftNIO": [BUILD / "nio/release/NIOWeb"],
}
SCENARIOS = [("14 B, 1 deep", "/hello", 1), ("14 B, 16 deep", "/hello", 16), ("10 kB, 1 deep", "/bytes/10000", 1),
             ("10 kB, 16 deep", "/bytes/10000", 16)]
CPU, RATE = "CPU per request, web", "Requests per second, web"
SCRIPT = """
init = function()
    local one = wrk.format("GET", wrk.path, {["Host"] = "localhost", ["User-Agent"] = "wrk", ["Accept"] = "*/*"})
    all = string.rep(one, DEPTH)
end
request = function() return all end
"""


def cpu_nanoseconds(pid):
    return sum(int(Path(path, "schedstat").read_text().split()[0]) for path in Path(f"/proc/{pid}/task").iterdir())


def measure(server, core, path, depth, seconds):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT.replace("DEPTH", str(depth)))
        script.flush()

        def load(seconds):
            command = ["taskset", "-c", str(core), "wrk", "-t1", "-c50", f"-d{seconds}s", "-s", script.name]
            return subprocess.run([*command, f"http://127.0.0.1:{server.port}{path}"], check=True, capture_output=True,
                                  text=True).stdout

        load(1)
        before = cpu_nanoseconds(server.pid)
        said = load(seconds)
        used = cpu_nanoseconds(server.pid) - before
    if "Non-2xx" in said or "Socket errors" in said:
        raise SystemExit(f"wrk met errors:\n{said}")
    requests = int(re.search(r"(\d+) requests in", said)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    return used / requests, rate


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", help="to append to")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
options = parser.parse_args()
server_core, load_core = two_cores()
entry = {**about.here("make bench TOPIC=programs"), "references": {CPU: "C libuv"}}
samples.append(options.file, {"about": entry})
names = list(PEERS)
for number in range(1, options.rounds + 1):
    turn = number % len(names)
    for figure, path, depth in SCENARIOS:
        for peer in names[turn:] + names[:turn]:
            with Server(PEERS[peer], server_core) as server:
                cost, rate = measure(server, load_core, path, depth, options.seconds)
            samples.append(options.file, dict(table=CPU, figure=figure, peer=peer, round=number, value=round(cost), unit="ns"))
            samples.append(options.file, dict(table=RATE, figure=figure, peer=peer, round=number, value=round(rate), unit="1/s"))
