#!/usr/bin/env python3
"""Prints the public surface of the library, one declaration a line, from the compiler's symbol graphs.

usage: api.sh MODULES          compares it with api.txt, and its names with the page of what there is
       api.sh MODULES --write  writes api.txt"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

modules = ["Futures", "ByteStreams", "SystemIO", "UVFutures", "FuturesTesting", "TLSStreams"]
kept = pathlib.Path("Tests/Checks/api.txt")
include = sys.argv[1]


def flags():
    options = subprocess.run(["pkg-config", "--cflags", "libuv"], capture_output=True, text=True).stdout.split()
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True).stdout)
    return ["-I", include, "-I", "Sources/CLibUV", "-I", "Sources/CFuturesSystem", "-I", "Sources/CFuturesRuntime", "-I", "Sources/CFuturesTLS", *options,
            "-target", target["target"]["triple"]]


with tempfile.TemporaryDirectory() as folder:
    options = flags()
    for module in modules:
        subprocess.run(["swift", "symbolgraph-extract", "-module-name", module, *options, "-output-dir", folder,
                        "-minimum-access-level", "public", "-skip-synthesized-members"], check=True,
                       stdout=subprocess.DEVNULL)
    graphs = [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.symbols.json"))
              if path.name.split("@")[0].split(".")[0] in modules]

lines, members, types = set(), collections.Counter(), set()
for graph in graphs:
    for symbol in graph["symbols"]:
        if symbol["accessLevel"] not in ("public", "open"):
            continue
        path = symbol["pathComponents"]
        text = "".join(part["spelling"] for part in symbol["declarationFragments"])
        owner = ".".join(path[:-1])
        lines.add(f"{owner + ': ' if owner else ''}{' '.join(text.split())}")
        if len(path) == 1 and symbol["kind"]["identifier"].split(".")[-1] in ("class", "struct", "enum", "protocol"):
            types.add(path[0])
    for symbol in graph["symbols"]:
        path = symbol["pathComponents"]
        if len(path) == 2 and path[0] in ("Future", "EventLoop"):
            members[path[0]] += 1
names = set()
for graph in graphs:
    for symbol in graph["symbols"]:
        path = symbol["pathComponents"]
        if len(path) == 2 and path[0] in ("Future", "EventLoop", "Promise", "ByteStream"):
            names.add(path[1].split("(")[0])
page = pathlib.Path("Sources/UVFutures/Documentation.docc/WhatThereIs.md").read_text()
missing = sorted(name for name in names if f"`{name}`" not in page)
surface = "\n".join(sorted(lines)) + "\n"
counts = {"types at the top level": len(types), "members of Future": members["Future"],
          "members of EventLoop": members["EventLoop"]}
head = "".join(f"# {name}: {count}\n" for name, count in counts.items())
if sys.argv[2:] == ["--write"]:
    kept.write_text(head + surface)
for name, count in counts.items():
    print(f"{name}: {count}")
old = kept.read_text().splitlines()
new = (head + surface).splitlines()
gone, came = sorted(set(old) - set(new)), sorted(set(new) - set(old))
for line in gone:
    print(f"- {line}", file=sys.stderr)
for line in came:
    print(f"+ {line}", file=sys.stderr)
if missing:
    sys.exit(f"the page WhatThereIs has no line for {', '.join(missing)}")
if gone or came:
    sys.exit("the public surface is not that of Tests/Checks/api.txt: write it by make api, and say why in the commit")
