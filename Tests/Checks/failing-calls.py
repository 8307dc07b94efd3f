#!/usr/bin/env python3
"""Makes the system calls of the library and of libuv fail, one after another, and looks what becomes of each kind of
work: whether somebody is told, whether anything spins, hangs or ends the process, what is left open, and whether all
goes on when the fault is over. Prints a line for each fault that is not borne.

usage: failing-calls.py BUILD-DIRECTORY [--all | KIND CALL:FAULT:WHEN [first]]

Without --all, each call fails with one error, in two kinds of work. FAULT and WHEN are as faults.c has them."""
import collections
import concurrent.futures
import glob
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

PROGRAMS = "Tests/Programs/Fault"
# How often a call fails that stops to fail by itself: the first time, the second time and so on.
NUMBERS = 4
# What passes is said once: a kernel that says it for ever has the caller try for ever.
PASSING = {"EINTR", "EAGAIN", "ECHILD", "ECONNABORTED", "EPROTO"}
# Of these, EAGAIN tells of a limit, which lasts.
LIMITED = {"pthread_create", "clone"}

# Of these nobody is told that they fail: a directory that may not be read, or is gone, is told as such, and what is in it
# is told when it can be read.
QUIET = {("treeWatch", "inotify_add_watch:EACCES"), ("treeWatch", "openat2:EACCES"), ("treeWatch", "getdents64:ENOENT")}

build, *arguments = sys.argv[1:]
work = tempfile.TemporaryDirectory()
program, library = f"{work.name}/Faults", f"{work.name}/faults.so"


def compile_all():
    flags = lambda option: subprocess.check_output(["pkg-config", option, "libuv"], text=True).split()
    objects = [path for module in ("Futures", "ByteStreams", "SystemIO", "UVFutures")
               for path in glob.glob(f"{build}/{module}.build/*.o")]
    subprocess.run(["clang", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", f"{PROGRAMS}/faults.c", "-o", library],
                   check=True)
    subprocess.run(["swiftc", "-Onone", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
                    "-use-ld=lld", "-I", f"{build}/Modules", "-I", "Sources/CLibUV", "-I", "Sources/CFuturesSystem", "-I", "Sources/CFuturesRuntime",
                    *flags("--cflags"), *glob.glob(f"{PROGRAMS}/*.swift"), *objects, "-o", program, *flags("--libs")],
                   check=True)


def run(kind, fault=None, first=False):
    """What the program says, and the signal that has ended it, if one has."""
    environment = os.environ | {"LD_PRELOAD": library, "SWIFT_BACKTRACE": "enable=no"}
    if fault:
        environment["FAULT"] = fault
    try:
        done = subprocess.run([program, kind, *(["first"] if first else [])], env=environment, timeout=20, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return "it does not end", signal.SIGKILL
    if done.returncode == 1:
        return done.stdout.strip(), signal.SIGUSR1
    return done.stdout.strip(), -done.returncode


calls, ending = {}, set()
for line in pathlib.Path(f"{PROGRAMS}/calls.txt").read_text().splitlines():
    if line and not line.startswith("#"):
        call, faults = line.split(":")
        calls[call.removesuffix("!")] = faults.split()
        if call.endswith("!"):
            ending.add(call.removesuffix("!"))
kinds = [kind for path in sorted(glob.glob(f"{PROGRAMS}/*Kinds.swift"))
         for kind in re.findall(r'^    "(\w+)": \{', pathlib.Path(path).read_text(), re.M)]

compile_all()
if arguments and arguments[0] != "--all":
    said, ended = run(arguments[0], arguments[1], "first" in arguments)
    sys.exit(f"{said} ({ended})")

# A fault from the start comes into the making of pools, too. Only then are threads made that stay.
rows = collections.deque()
tried = collections.Counter()
pool = concurrent.futures.ThreadPoolExecutor(4 * os.cpu_count())
for kind, (said, ended) in zip(kinds, pool.map(lambda kind: run(kind, first=True), kinds)):
    if ended:
        sys.exit(f"{kind} without a fault: {said} ({ended})")
    for call in sorted(set(said.split())):
        if call not in calls:
            sys.exit(f"{kind} calls {call}, of which calls.txt knows no errors")
        tried[call] += 1
        first = call == "pthread_create"
        if arguments:
            for fault in calls[call]:
                passes = fault in PASSING and call not in LIMITED
                whens = ["1"] if passes else ["always", *map(str, range(1, NUMBERS + 1))]
                rows.extend((kind, f"{call}:{fault}:{when}", first) for when in whens)
        elif tried[call] <= 2:
            passes = calls[call][0] in PASSING and call not in LIMITED
            rows.append((kind, f"{call}:{calls[call][0]}:{'1' if passes else 'always'}", first))

failed = ends = 0
for (kind, fault, _), (said, ended) in zip(rows, pool.map(lambda row: run(*row), rows)):
    is_said = "cannot do the work of the main queue" in said
    if fault.split(":")[0] in ending and (ended == signal.SIGABRT and not said or is_said):
        ends += 1
    elif ended and not (said.startswith("in use, nobody is told") and (kind, fault.rpartition(":")[0]) in QUIET):
        failed += 1
        print(f"{kind}, {fault}: {said or 'it ends by signal ' + str(int(ended))}")
print(f"{len(rows)} faults in {len(kinds)} kinds of work, {len(calls)} system calls: {failed} are not borne, and libuv "
      f"ends the process at {ends}")
sys.exit(failed > 0)
