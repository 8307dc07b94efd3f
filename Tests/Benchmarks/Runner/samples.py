"""The one format of all measurements: a file of JSON lines, to which each program that measures appends.

A sample is one value of one round:

    {"table": "CPU per round trip", "figure": "50 × 64 B", "peer": "C libuv", "round": 3, "value": 6120, "unit": "ns"}

    table   the heading under which the figure is a row; may be left out
    figure  what was done, the same words for each peer
    peer    who did it, a column: "ours", "SwiftNIO", "C", …
    round   1 or more; samples of one round were taken one after another and are compared with each other. Or 0, for a
            figure that repeats exactly, such as a count of instructions
    value   a number, of which less is better, unless the unit ends in "/s"
    unit    "ns", "B", "1/s", …, the same wherever the figure is; may be left out for counts

Other keys of a sample are of no concern to tables and charts. One line may say what was measured where; later ones add
to it:

    {"about": {"command": …, "machine": …, "versions": {NAME: VERSION}, "references": {TABLE: PEER}}}

    references  tables whose peers are shown beside one of them too, as the ratio to it within a round
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

KEYS = {"figure": str, "peer": str, "round": int, "value": (int, float)}


@dataclass
class Samples:
    about: dict = field(default_factory=dict)
    # table → figure → peer → round → value, each in the order in which it first occurs.
    tables: dict = field(default_factory=dict)
    units: dict = field(default_factory=dict)

    def add(self, sample):
        for key, kind in KEYS.items():
            if not isinstance(sample.get(key), kind):
                raise ValueError(f"a sample without a {key}")
        table = sample.get("table", "")
        rounds = self.tables.setdefault(table, {}).setdefault(sample["figure"], {}).setdefault(sample["peer"], {})
        rounds[sample["round"]] = sample["value"]
        self.units.setdefault((table, sample["figure"]), sample.get("unit", ""))

    def peers(self, table):
        return list(dict.fromkeys(peer for figure in self.tables[table].values() for peer in figure))


def read(paths):
    samples = Samples()
    for path in paths:
        try:
            lines = Path(path).read_text().splitlines()
        except OSError as error:
            sys.exit(str(error))
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise ValueError("not a sample")
                if "about" in entry:
                    merge(samples.about, entry["about"])
                else:
                    samples.add(entry)
            except (ValueError, TypeError) as error:
                sys.exit(f"{path}:{number}: {error}")
    if not samples.tables:
        sys.exit(f"no samples in {', '.join(map(str, paths))}")
    return samples


def last_round(path):
    """The number of the last round in a file, after which further ones go on; 0 if there is none."""
    if not Path(path).exists():
        return 0
    entries = map(json.loads, Path(path).read_text().splitlines())
    return max((entry.get("round", 0) for entry in entries), default=0)


def merge(into, about):
    for key, value in about.items():
        if key == "command" and key in into:
            if value not in into[key].split("; "):
                into[key] += f"; {value}"
        elif isinstance(value, dict):
            into.setdefault(key, {}).update(value)
        else:
            into[key] = value


def append(path, entry):
    with open(path, "a") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
