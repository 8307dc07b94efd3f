#!/usr/bin/env python3
"""Holds the walks of "How it works" against the sources: each function is in its file and calls that of the next row, and
from a promise to a closure it is no further than seven files."""
import pathlib
import re
import sys

page = pathlib.Path("Sources/UVFutures/Documentation.docc/HowItWorks.md")
row = re.compile(r"\| `([\w/+]+\.swift)` \| `(\w+)` \| (.*) \|")
walks, legs = {}, None
for line in page.read_text().splitlines():
    if line.startswith("## "):
        legs = walks.setdefault(line[3:], [])
    elif found := row.fullmatch(line):
        legs[-1].append(found.groups())
    elif line.startswith("| file") and legs is not None:
        legs.append([])
walks = {title: legs for title, legs in walks.items() if legs}

faults = []


def bodies(path, function):
    """The text of each function of that name."""
    text = pathlib.Path("Sources", path).read_text()
    for start in re.finditer(rf"^( *)(?:[\w@]+(?:\([^)]*\))? )*func {function}\b", text, re.M):
        end = re.compile(rf"^{start[1]}\}}|^{start[1]}[^\n]*func [^\n]*\}}$", re.M).search(text, start.start())
        yield text[start.start():end.end() if end else None]


for title, legs in walks.items():
    for leg in legs:
        for here, after in zip(leg, leg[1:] + [None]):
            path, function, what = here
            if not pathlib.Path("Sources", path).is_file():
                faults.append(f"{title}: there is no {path}")
                continue
            found = list(bodies(path, function))
            if not found:
                faults.append(f"{title}: {path} has no function {function}")
            # The last of a leg calls what its text ends with, if that is code.
            last = re.search(r"`(\w+)`$", what)
            called = after[1] if after else last[1] if last else None
            if called and not any(re.search(rf"(?<!func )\b{called}\b", b.split("{", 1)[-1]) for b in found):
                faults.append(f"{title}: {function} in {path} does not call {called}")
    files = {path for leg in legs for path, _, _ in leg}
    print(f"{title}: {len(files)} files, {sum(map(len, legs))} functions")
    if "closure" in title and len(files) > 7:
        faults.append(f"{title}: {len(files)} files are more than seven")
if len(walks) < 4:
    faults.append(f"{page} has {len(walks)} walks")
print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
sys.exit(1 if faults else 0)
