#!/usr/bin/env python3
"""Starts /bin/true from ours and from its peers, with little and with much resident memory, in interleaved rounds, and prints
a table. Fails if ours misses its targets: 1 ms at the 99th percentile, and 1.2 times the median with much memory.
usage: processes.py ROUNDS COUNT MEGABYTES"""
import collections
import statistics
import subprocess
import sys

from about import first_line, processor
from servers import PYTHON

rounds, count, much = map(int, sys.argv[1:])
LITTLE = 10
peers = {
    "ours": [".build/release/ProcessStarts"],
    "Node": ["node", "Peers/Node/processes.js"],
    "Python": [PYTHON, "-B", "Peers/Python/processes.py"],
}
times = collections.defaultdict(list)
for _ in range(rounds):
    for peer, command in peers.items():
        for memory in (LITTLE, much):
            lines = subprocess.run([*command, str(count), str(memory)], capture_output=True, text=True, check=True).stdout
            for line in lines.splitlines():
                figure, time = line.split()
                times[peer, memory, figure].append(float(time))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


print(f"# Starting a program\n\n{rounds} rounds of {count} starts of `/bin/true`, on {processor()}, {first_line('uname', '-sr')}. "
      "Times in µs.\n")
print("| | resident memory | thread blocked, median | 99th percentile | until its end is known, median |")
print("|---|---|---|---|---|")
for peer in peers:
    for memory in (LITTLE, much):
        blocked, ended = (times[peer, memory, figure] for figure in ("blocked", "ended"))
        print(f"| {peer} | {memory} MB | {statistics.median(blocked):.0f} | {percentile(blocked, 0.99):.0f} | "
              f"{statistics.median(ended):.0f} |")
ours = [times["ours", memory, "blocked"] for memory in (LITTLE, much)]
ratio = statistics.median(ours[1]) / statistics.median(ours[0])
print(f"\nOurs with {much} MB takes {ratio:.2f} times as long as with {LITTLE} MB.")
sys.exit(percentile(ours[0] + ours[1], 0.99) > 1000 or ratio > 1.2)
