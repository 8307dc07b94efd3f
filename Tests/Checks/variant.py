#!/usr/bin/env python3
"""Compiles the library again with other flags, links the objects of a debug build's tests to it, and prints the path of the
program. The tests, which take the compiler most of its time, are compiled once for all variants. Reads the commands from
the file that SwiftPM has written for its build, or from a copy of it that PLAN names.
usage: variant.py SCRATCH-PATH OUTPUT-DIRECTORY FLAGS..."""

import json
import os
import pathlib
import re
import subprocess
import sys

scratch, output, flags = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
build = (scratch / "debug").resolve()
# What of a command writes anything but objects, with the value that follows or without.
DROPPED = {"-emit-module-path": 2, "-emit-objc-header-path": 2, "-index-store-path": 2, "-emit-module": 1, "-emit-objc-header": 1,
           "-emit-dependencies": 1, "-serialize-diagnostics": 1, "-incremental": 1, "-parseable-output": 1}


def command(name):
    """The arguments of a command, by its name in SwiftPM's file."""
    found = re.search(rf'^  "C\.{name}":\n(?:    .*\n)*?    args: (\[.*\])$', commands, re.MULTILINE)
    return json.loads(found[1]) if found else sys.exit(f"the plan of {scratch} has no command {name}: is it another SwiftPM's?")


def run(arguments):
    process = subprocess.run(arguments + flags, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if process.returncode:
        sys.exit(process.stdout)


def compiled(module):
    """Compiles a module beside what the debug build knows of the others."""
    (output / f"{module}.build").mkdir(parents=True, exist_ok=True)
    outputs = json.loads((build / f"{module}.build/output-file-map.json").read_text())
    outputs = {file: {"object": value["object"].replace(str(build), str(output))} for file, value in outputs.items() if "object" in value}
    objects = output / f"{module}.build/objects.json"
    objects.write_text(json.dumps(outputs))
    rest, kept = command(rf"{module}-[\w-]+-debug\.module"), []
    while rest:
        count = DROPPED.get(rest[0], 0)
        if rest[0] == "-output-file-map":
            kept, count = kept + [rest[0], str(objects)], 2
        elif not count:
            kept, count = kept + [rest[0]], 1
        rest = rest[count:]
    run(kept)


commands = pathlib.Path(os.environ.get("PLAN", scratch / "debug.yaml")).read_text()
modules = [path.name for path in sorted(pathlib.Path("Sources").iterdir()) if any(path.rglob("*.swift"))] + ["TestSupport"]
for module in modules:
    compiled(module)

link = command(r"[\w-]+-debug\.test")
objects = pathlib.Path(next(argument[1:] for argument in link if argument.startswith("@")))
own = re.compile(rf"{re.escape(str(build))}(/({'|'.join(modules)})\.build/(?!.*swiftmodule\.o).*)")
(output / "objects").write_text(own.sub(rf"{output}\1", objects.read_text()))
link[link.index(f"@{objects}")] = f"@{output}/objects"
link[link.index("-o") + 1] = str(output / "tests")
run(link)
print(output / "tests")
