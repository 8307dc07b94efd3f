#!/usr/bin/env -S python3 -B
"""Measures single operations, in interleaved rounds, and appends the samples to a file; samples.py tells the format. Rounds
that are in the file already count too: these go on after them.

The counts are those of allocations and, by callgrind, of instructions; of C and Node.js there are none.
A round runs each figure's program of each peer, one after another, in an order that turns round from round to round.
Fails when one of a million of ours takes more than ten times as long as one of a thousand.
"""

import argparse
import shlex
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass

import about
import samples
from servers import BUILD, HERE, two_cores

PEERS = {
    "ours": [BUILD / "release/Micro"],
    "SwiftNIO": [BUILD / "nio/release/NIOMicro"],
    "Node.js": ["node", HERE / "Peers/Node/micro.js"],
    "C libuv": [BUILD / "c/micro"],
}
TIMES = {"Time per operation": 0, "CPU per operation": 1}
COUNTS = {"Heap allocations per operation": "allocations", "Instructions per operation": "instructions"}
COUNTED = ["ours", "SwiftNIO"]
MOST_GROWTH = 10


@dataclass
class Figure:
    title: str
    name: str
    count: int
    on_one_core: bool = True
    is_countable: bool = True


FIGURES = [
    Figure("promise and observer", "promise", 300_000),
    Figure("map, pending, chains of ten", "map-pending", 1_000_000),
    Figure("map, completed, chains of ten", "map-completed", 1_000_000),
    Figure("flatMap, pending, chains of ten", "flatMap-pending", 500_000),
    Figure("flatMap, completed, chains of ten", "flatMap-completed", 500_000),
    Figure("group of 1,000, each", "group", 200_000),
    Figure("timer, create and cancel", "timer-cancel", 200_000),
    Figure("timer, replace among 10,000", "timer-replace", 100_000),
    Figure("timer, fire 100,000, each", "timer-fire", 100_000),
    Figure("submit from another thread", "submit", 400_000, False, False),
    Figure("submit from eight threads", "submit-8-threads", 400_000, False, False),
    Figure("submit from another thread, bursts of 1,000", "submit-bursts", 400_000, False),
    Figure("await, completed, on the loop", "await-completed", 100_000),
    Figure("await, pending, on the loop", "await-pending", 50_000),
    Figure("await, completed, from outside", "await-completed-outside", 30_000, False, False),
    Figure("await, pending, from outside", "await-pending-outside", 30_000, False, False),
]
CURVES = {"group": "one-group", "timers": "one-timer-heap", "listeners of one future": "one-listener-list"}
SIZES = [1000, 10_000, 100_000, 1_000_000]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="to append to")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--curve-rounds", type=int, default=3, help="of those, that measure sizes up to a million too")
    parser.add_argument("--counts", action="store_true", help="count allocations and instructions too, once")
    parser.add_argument("--scale", type=float, default=1, help="of the number of operations")
    parser.add_argument("--figure", action="append", choices=[f.name for f in FIGURES], help="only these")
    parser.add_argument("--peer", action="append", choices=PEERS, help="only these")
    options = parser.parse_args()
    if options.rounds < 1 or options.curve_rounds < 0 or options.scale <= 0:
        parser.error("the rounds and the scale are positive numbers")
    return options


def run(*command):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))} failed")
    return result.stdout.split()


class Measurement:
    def __init__(self, options):
        self.options = options
        self.core = two_cores()[0]
        chosen = {name: PEERS[name] for name in options.peer or PEERS}
        if "Node.js" in chosen and not shutil.which("node"):
            print("Node.js is not installed, and left out", file=sys.stderr)
            del chosen["Node.js"]
        # Each with the names of the figures that it has.
        self.peers = {name: (command, set(run(*command))) for name, command in chosen.items()}
        self.growth = {}

    def peers_of(self, name, number):
        peers = [(peer, command) for peer, (command, figures) in self.peers.items() if name in figures]
        return peers[::-1] if number % 2 else peers

    def values(self, command, name, count, on_one_core):
        pinned = ["taskset", "-c", str(self.core)] if on_one_core else []
        return [float(word) for word in run(*pinned, *command, name, count)]

    def record(self, table, figure, peer, number, value, unit="ns"):
        entry = {"table": table, "figure": figure, "peer": peer, "round": number, "value": value, "unit": unit}
        samples.append(self.options.file, entry)

    def figures(self):
        return [f for f in FIGURES if not self.options.figure or f.name in self.options.figure]

    def operations(self, number):
        for figure in self.figures():
            count = max(1000, round(figure.count * self.options.scale))
            for peer, command in self.peers_of(figure.name, number):
                values = self.values(command, figure.name, count, figure.on_one_core)
                for table, index in TIMES.items():
                    self.record(table, figure.title, peer, number, values[index])

    def curves(self, number):
        for what, name in CURVES.items():
            for size in SIZES:
                for peer, command in self.peers_of(name, number):
                    value = self.values(command, name, size, True)[1]
                    self.record(f"CPU per element, {what}", f"{size:,}", peer, number, value)
                    if peer == "ours":
                        self.growth.setdefault(what, {}).setdefault(size, []).append(value)

    def counts(self):
        for figure in filter(lambda figure: figure.is_countable, self.figures()):
            for peer in COUNTED:
                if peer not in self.peers:
                    continue
                for table, what in COUNTS.items():
                    value = float(run(HERE / "cost.sh", what, peer, figure.name)[0])
                    self.record(table, figure.title, peer, 0, value, unit="")

    def check_growth(self):
        for what, sizes in self.growth.items():
            few, many = (statistics.median(sizes[size]) for size in (SIZES[0], SIZES[-1]))
            if many > MOST_GROWTH * few:
                sys.exit(f"{what}: each of {SIZES[-1]:,} takes {many:.0f} ns, each of {SIZES[0]:,} {few:.0f}")


def main():
    options = read_options()
    measurement = Measurement(options)
    before = samples.last_round(options.file)
    samples.append(options.file, {"about": about.here(shlex.join(["Runner/micro.py", *sys.argv[1:]]))})
    for number in range(1, options.rounds + 1):
        print(f"round {number} of {options.rounds}", file=sys.stderr)
        measurement.operations(before + number)
        if number <= options.curve_rounds:
            measurement.curves(before + number)
    if options.counts:
        measurement.counts()
    measurement.check_growth()


main()
