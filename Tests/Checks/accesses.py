#!/usr/bin/env python3
"""No code of users runs while a stored property is being changed: it could come back to the property, and the program
would end with "Fatal access conflict". Reads the compiler's SIL, in which an access to a property of a class has a
beginning and an end. Between them there must be no call, through whatever functions, of a closure, of a method of a public
protocol, or of a class that has no such method here; and no function that users can call may release there what was set
before. Beside this, Accesses.swift holds what has to be found.
usage: accesses.py MODULES"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

names = ["Futures", "ByteStreams", "SystemIO", "UVFutures", "FuturesTesting", "TLSStreams"]
# Why what is called there does not come back to the property.
allowed = {
    "InOrder.total": "an outcome that arrives meanwhile waits, since isTaking is true",
    "Traversal.total": "the closure is the library's: it stores an outcome",
    "SimulatedHost.program": "the host has just been made",
}
Function = collections.namedtuple("Function", "title place isPublic parameters definitions body")
applies = re.compile(r"(?:\S+ = |\(.*?\) = )?(?:try_|begin_)?apply (?:\[\w+\] )*(%\d+)(?:<.*?>)?\(([^()]*)\) : ")
passed = ("convert_", "thin_to_thick_function", "partial_apply", "mark_dependence", "upcast")
# What users set is released by a function that they call, or by a property that they set.
values = {False: "@callee_guaranteed", True: r"@callee_guaranteed|\bany "}
makes = re.compile(r"\binit\(|__allocating_init|^static ")
parts = ("struct_element_addr", "tuple_element_addr", "unchecked_take_enum_data_addr", "begin_access")


def emit(name, sources, modules, target):
    """Starts the compiler, which writes the SIL of a module."""
    cflags = subprocess.run(["pkg-config", "--cflags", "libuv"], capture_output=True, text=True).stdout.split()
    return subprocess.Popen(
        ["swiftc", "-emit-sil", "-wmo", "-Onone", "-g", "-parse-as-library", "-swift-version", "6", "-suppress-warnings",
         "-Xllvm", "-sil-print-types", "-Xllvm", "-sil-print-debuginfo", "-package-name", package, "-module-name", name,
         "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-I", modules, "-I", "Sources/CLibUV", "-I", "Sources/CFuturesSystem",
         "-I", "Sources/CFuturesRuntime", "-I", "Sources/CFuturesTLS", *cflags, "-o", target, *map(str, sources)])


class Program:
    """The functions of some modules, and which of them come to code of users."""

    def __init__(self, files, module_names, sources):
        self.functions = {}
        self.methods = collections.defaultdict(set)
        self.own = re.compile("|".join(f"{len(name)}{name}" for name in module_names))
        self.protocols = set()
        for source in sources:
            self.protocols |= set(re.findall(r"public protocol (\w+)", source.read_text()))
        for file in files:
            with open(file) as lines:
                self.read(lines)
        self.reached = {}
        callers = collections.defaultdict(set)
        for name, function in self.functions.items():
            for line in function.body:
                called, foreign = self.call(function, line)
                for other in called:
                    callers[other].add(name)
                if foreign:
                    self.reached.setdefault(name, foreign)
        work = collections.deque(self.reached)
        while work:
            name = work.popleft()
            for caller in callers[name] - self.reached.keys():
                self.reached[caller] = name
                work.append(caller)

    def read(self, lines):
        title, begin, function = "", None, None
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("// ") and not function and not line.startswith(("// %", "// Isolation")):
                title, begin = line[3:].split(", loc ")[0], place(line)
            elif line.startswith("sil ") and line.endswith("{"):
                name = re.search(r"@([^\s:]+) : ", line)[1]
                isPublic = not re.match(r"sil (shared|private|hidden|package)", line)
                function = Function(title, begin, isPublic, {}, {}, [])
                # What is inlined of the standard library is not ours to judge.
                if self.own.search(name):
                    self.functions.setdefault(name, function)
            elif line.startswith("}"):
                function = None
            elif not function:
                # A table: of a class, or of what conforms to a protocol.
                if entry := re.match(r"  (?:method )?(#[^:]+): .* : @(\S+)", line):
                    self.methods[entry[1]].add(entry[2])
            elif line.startswith(("  %", "  (", "bb")) or line.startswith("  ") and line[2:3].isalpha():
                line = line.strip()
                function.body.append(line)
                if line.startswith("bb0"):
                    function.parameters.update(re.findall(r"(%\d+) : (.*?)(?=, %|\):)", line))
                elif " = " in line:
                    made, _, definition = line.partition(" = ")
                    for value in re.findall(r"%\d+", made):
                        function.definitions[value] = definition

    def resolve(self, function, value):
        """Returns the names of the functions that `value` can be, and whether it is code of others."""
        while value not in function.parameters:
            definition = function.definitions.get(value, "")
            if reference := re.match(r"function_ref @([^\s:]+)", definition):
                return {reference[1]}, None
            if method := re.match(r"(?:class|super|witness)_method .*?(#[^:]+) : ", definition):
                implementations = self.methods.get(method[1], set())
                isOpen = method[1][1:].split(".")[0] in self.protocols
                return implementations, None if implementations and not isOpen else method[1]
            if partial := re.match(r"partial_apply (?:\[\w+\] )*(%\d+)(?:<.*?>)?\(([^()]*)\)", definition):
                called, foreign = self.resolve(function, partial[1])
                for captured in re.findall(r"%\d+", partial[2]):
                    if re.search(r" : \$\*?(@\w+ )*@callee_guaranteed", typeOf(function, captured)):
                        more, other = self.resolve(function, captured)
                        called, foreign = called | more, foreign or other
                return called, foreign
            if definition.startswith(passed):
                value = re.search(r"%\d+", definition)[0]
            elif call := applies.match(definition):
                # A function that makes a closure of a method.
                made = set()
                for name in self.resolve(function, call[1])[0]:
                    for line in self.functions[name].body if name in self.functions else []:
                        made |= set(re.findall(r"function_ref @([^\s:]+)", line))
                return made, None if made else "a closure"
            else:
                return set(), "a closure"
        # What a function is given is judged where it is given.
        isJudged = "@noescape" in function.parameters[value] or re.match("(implicit )?closure #|thunk", function.title)
        return set(), None if isJudged else "a closure"

    def call(self, function, line):
        """Returns the names of the functions that a line calls, and the code of others that it calls."""
        call = applies.match(line)
        if not call:
            return set(), None
        called, foreign = self.resolve(function, call[1])
        for argument in re.findall(r"%\d+", call[2]):
            definition = function.definitions.get(argument, "")
            if definition.startswith(passed) and "@noescape" in definition or "[on_stack]" in definition:
                more, other = self.resolve(function, argument)
                called, foreign = called | more, foreign or other
        return called, foreign

    def way(self, name):
        """Returns the functions through which `name` comes to code of others."""
        steps = []
        while name in self.functions:
            steps.append(self.functions[name].title)
            name = self.reached[name]
        return " → ".join(steps + [name])

    def faults(self):
        for function in self.functions.values():
            for address, property, body in changes(function):
                stored = re.search(r"#([\w.]+)", function.definitions.get(property, ""))
                for line in body:
                    called, foreign = self.call(function, line)
                    way = foreign or next((self.way(name) for name in sorted(called) if name in self.reached), None)
                    if way:
                        yield stored[1] if stored else "a variable", function, f"calls {way}", line
                isSet = function.isPublic and stored and not makes.search(function.title)
                for line in releases(address, body, values[function.title.endswith(".setter")]) if isSet else []:
                    yield stored[1], function, "releases what was set before", line


def changes(function):
    """Yields each access that changes a property: its address, that of the property, and the lines up to its end."""
    blocks = {line.split(":")[0].split("(")[0]: at for at, line in enumerate(function.body) if line.startswith("bb")}
    for start, line in enumerate(function.body):
        access = re.match(r"(%\d+) = begin_access \[modify\] \[dynamic\] (%\d+)", line)
        if not access:
            continue
        todo, seen = [start + 1], set()
        while todo:
            at = todo.pop()
            while at not in seen:
                seen.add(at)
                line = function.body[at]
                if line.startswith(f"end_access {access[1]} "):
                    seen.discard(at)
                    break
                targets = [] if line.startswith("bb") else re.findall(r"\b(bb\d+)\b", line.split("//")[0])
                if targets or re.match("return|throw|unwind|unreachable", line):
                    todo += [blocks[target] for target in targets]
                    break
                at += 1
        yield access[1], access[2], [function.body[at] for at in sorted(seen)]


def releases(address, body, kinds):
    """Yields the lines that release what was at `address`, of a type that matches `kinds`."""
    addresses, held = {address}, set()
    for line in body:
        made, _, definition = line.partition(" = ")
        operation = definition.split(" ")[0]
        used = re.findall(r"%\d+", definition)
        if operation in parts and addresses.intersection(used):
            addresses.add(made)
        elif operation == "load" and addresses.intersection(used):
            held.add(made)
        elif re.match(r"(retain_value|strong_retain) ", line) and held.intersection(re.findall(r"%\d+", line)):
            # Something else holds it, too.
            return
        dropped = re.match(r"(?:release_value|strong_release) (%\d+) : \$(.*)", line)
        destroyed = re.match(r"(?:destroy_addr|copy_addr (?:\[take\] )?%\d+ to) (%\d+) : \$\*(.*)", line)
        gone = dropped if dropped and dropped[1] in held else destroyed if destroyed and destroyed[1] in addresses else None
        if gone and re.search(kinds, gone[2]):
            yield line


def typeOf(function, value):
    return " : " + function.parameters[value] if value in function.parameters else function.definitions.get(value, "")


def place(line):
    found = re.search(r'loc \*?"([^"]+)":(\d+)', line)
    return (found[1], int(found[2])) if found else None


modules, here = sys.argv[1], pathlib.Path(__file__).parent
# The package's name in the build that `modules` come from.
manifest = pathlib.Path(modules).parent.parent / "debug.yaml"
package = re.search(r'"-package-name","([^"]+)"', manifest.read_text())[1]
with tempfile.TemporaryDirectory() as directory:
    sources = {name: sorted(pathlib.Path("Sources", name).rglob("*.swift")) for name in names}
    sources["Accesses"] = [here / "Accesses.swift"]
    waiting, running = list(sources), []
    while waiting or running:
        while waiting and len(running) < os.cpu_count():
            name = waiting.pop(0)
            running.append(emit(name, sources[name], modules, f"{directory}/{name}.sil"))
        if running.pop(0).wait():
            sys.exit("no SIL of a module")
    planted = Program([f"{directory}/Accesses.sil"], ["Accesses"], sources["Accesses"])
    found = {(place(line) or function.place)[1]: what for _, function, what, line in planted.faults()}
    text = sources["Accesses"][0].read_text().splitlines()
    wanted = {number for number, line in enumerate(text, 1) if line.endswith("// here")}
    faults = [f"{here}/Accesses.swift:{number}: is not found" for number in sorted(wanted - found.keys())]
    faults += [f"{here}/Accesses.swift:{number}: {found[number]}" for number in sorted(found.keys() - wanted)]
    library = Program([f"{directory}/{name}.sil" for name in names], names, sum((sources[name] for name in names), []))
    used = set()
    for stored, function, what, line in library.faults():
        used.add(stored)
        if stored not in allowed:
            file, number = place(line) or function.place
            faults.append(f"{file}:{number}: {function.title} changes {stored}, and meanwhile {what}")
faults += [f"{here}/accesses.py: {stored} is allowed in vain" for stored in allowed.keys() - used]
print("\n".join(dict.fromkeys(faults)) or "no code of users runs while a property is being changed")
sys.exit(1 if faults else 0)
