#!/usr/bin/env -S python3 -B
"""Measures what files cost, in interleaved rounds, and appends the samples to a file; samples.py tells the format.
usage: files.py --rounds N FILE"""

import argparse
import os
import subprocess
import tempfile

import about
import samples
from servers import HERE

SIZE = 64 << 20
READS = 100_000
COPY, READ = "CPU per copy of 64 MiB to a connection", "CPU per read of 100 bytes"
OURS, C = HERE / ".build/release/FileWork", HERE / ".build/c/files"
WORKS = [
    (COPY, "64 MiB", "ours: copy", [OURS, "copy"]),
    (COPY, "64 MiB", "ours: 64 KiB pieces", [OURS, "pieces"]),
    (COPY, "64 MiB", "C: 64 KiB pieces", [C, "pieces"]),
    (COPY, "64 MiB", "C: sendfile", [C, "sendfile"]),
    (READ, "16 at once", "ours", [OURS, "reads"]),
    (READ, "16 at once", "Node.js", ["node", HERE / "Peers/Node/files.js", "reads"]),
]

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", help="to append to")
parser.add_argument("--rounds", type=int, default=21)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "source")
    with open(path, "wb") as file:
        file.write(os.urandom(SIZE))
    sink = subprocess.Popen([C, "sink"], stdout=subprocess.PIPE, text=True)
    try:
        port = sink.stdout.readline().strip().rpartition(":")[2]
        references = {COPY: "ours: 64 KiB pieces", READ: "Node.js"}
        entry = {**about.here("make bench TOPIC=files"), "references": references}
        samples.append(options.file, {"about": entry})
        for number in range(1, options.rounds + 1):
            turn = number % len(WORKS)
            for table, figure, peer, command in WORKS[turn:] + WORKS[:turn]:
                last = port if table == COPY else str(READS)
                output = subprocess.run([*command, path, last], check=True, capture_output=True, text=True).stdout
                value = int(output) if table == COPY else int(output) // READS
                sample = dict(table=table, figure=figure, peer=peer, round=number, value=value, unit="ns")
                samples.append(options.file, sample)
    finally:
        sink.kill()
        sink.wait()
