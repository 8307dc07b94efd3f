#!/usr/bin/env python3
"""Tries mutants that are drawn over all sources by seed. One build, of a copy, holds all of them as switches; a variable of
the environment turns one on. Each suite is run once to see which mutants it reaches. Then each mutant meets the suites that
reach it, those first that are nearest to its file, until one fails.

killed      a test failed
hung        no test failed, but they took far more time than they need; a slow machine looks the same
SURVIVED    all suites that reach it passed
NOT REACHED by any suite
usage: drawn.py SEED COUNT              of those that compile, 4 in 100 may survive
       drawn.py SEED COUNT FOLDER       makes the copy there, where it stays. With a COUNT of `all`, all mutants
       drawn.py --tests FOLDER          builds the tests as they are now, and sees anew what they reach
       drawn.py --try FOLDER PATTERN    only those whose path or number matches
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import places

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKERS = 2
PRECEDENCES = {"<": "Comparison", ">": "Comparison", "<=": "Comparison", ">=": "Comparison", "==": "Comparison", "!=": "Comparison",
               "&&": "LogicalConjunction", "||": "LogicalDisjunction", "+": "Addition", "-": "Addition"}
# What each kind of operator is for, with its result.
ORDERED = ["<Value: Comparable>(a: Value, b: Value) -> Bool", "<A: BinaryInteger, B: BinaryInteger>(a: A, b: B) -> Bool",
           "<A: Comparable, B: Comparable>(a: (A, B), b: (A, B)) -> Bool"]
EQUAL = ["<Value: Equatable>(a: Value, b: Value) -> Bool", "<A: BinaryInteger, B: BinaryInteger>(a: A, b: B) -> Bool",
         "<Value>(a: Value?, b: _OptionalNilComparisonType) -> Bool", "(a: Any.Type?, b: Any.Type?) -> Bool",
         "<A: Equatable, B: Equatable>(a: (A, B), b: (A, B)) -> Bool"]
LOGICAL = ["(a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool"]
SUMS = ["<Value: AdditiveArithmetic>(a: Value, b: Value) -> Value", "<Value: Strideable>(a: Value, b: Value.Stride) -> Value",
        "<Value: InstantProtocol>(a: Value, b: Value.Duration) -> Value"]
FORMS = {"<": ORDERED, ">": ORDERED, "<=": ORDERED, ">=": ORDERED, "==": EQUAL, "!=": EQUAL, "&&": LOGICAL, "||": LOGICAL, "+": SUMS, "-": SUMS}
HEADER = """
#include <stdbool.h>
extern long mutant_number;
extern unsigned char *mutants_reached;
static inline bool mutant_is_on(long number) {
    if (mutants_reached) mutants_reached[number] = 1;
    return number == mutant_number;
}
"""
SWITCH = """
#include "switch.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
long mutant_number = -1;
unsigned char *mutants_reached;
__attribute__((constructor(101))) static void begin(void) {
    const char *number = getenv("MUTANT"), *reached = getenv("MUTANTS_REACHED");
    if (number) mutant_number = atol(number);
    if (!reached) return;
    int file = open(reached, O_RDWR | O_CLOEXEC);
    off_t size = lseek(file, 0, SEEK_END);
    void *map = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map != MAP_FAILED) mutants_reached = map;
}
"""
FUNCTIONS = """
import CMutantSwitch
public func mutant(_ number: Int) -> Bool { mutant_is_on(number) }
public func mutant<Value>(_ number: Int, _ value: Value, _ other: Value) -> Value { mutant_is_on(number) ? other : value }
"""
PACKAGE = """
package.targets += [.target(name: "CMutantSwitch"), .target(name: "MutantSwitch", dependencies: ["CMutantSwitch"])]
for target in package.targets where %s.contains(target.name) { target.dependencies.append("MutantSwitch") }
"""


class Copy:
    """A copy of the package with its mutants. `alive` are the numbers of those that compile."""

    def __init__(self, folder, mutants=None):
        self.folder = pathlib.Path(folder).resolve()
        self.state = self.folder / "mutants.json"
        if mutants is None:
            state = json.loads(self.state.read_text())
            self.mutants = [places.Mutant(**{**mutant, "span": tuple(mutant["span"])}) for mutant in state["mutants"]]
            self.alive, self.times = set(state["alive"]), state["times"]
            self.reached = {suite: set(numbers) for suite, numbers in state["reached"].items()}
        else:
            self.mutants, self.alive, self.times, self.reached = mutants, set(range(len(mutants))), {}, {}

    def save(self):
        self.state.write_text(json.dumps({
            "mutants": [vars(mutant) for mutant in self.mutants], "alive": sorted(self.alive), "times": self.times,
            "reached": {suite: sorted(numbers) for suite, numbers in self.reached.items()}}))

    # The build

    def take(self, *paths):
        """Copies files of the package."""
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths], cwd=ROOT,
                               stdout=subprocess.PIPE, check=True, text=True).stdout.split("\0")[:-1]
        for file in files:
            if not (ROOT / file).exists():
                continue
            target = self.folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != (ROOT / file).read_bytes():
                shutil.copy(ROOT / file, target)
        for path in paths:
            for file in (self.folder / path).rglob("*.swift"):
                if str(file.relative_to(self.folder)) not in files:
                    file.unlink()

    def make(self):
        self.take()
        modules = sorted({mutant.path.split("/")[1] for mutant in self.mutants})
        with open(self.folder / "Package.swift", "a") as package:
            package.write(PACKAGE % json.dumps(modules))
        place = self.folder / "Sources/CMutantSwitch"
        (place / "include").mkdir(parents=True)
        (place / "include/switch.h").write_text(HEADER)
        (place / "switch.c").write_text(SWITCH)
        (self.folder / "Sources/MutantSwitch").mkdir()
        for path in {mutant.path for mutant in self.mutants}:
            self.write(path)
        self.write_operators()

    def write(self, path):
        """Writes a source with the switches of its mutants, each on the line that it has."""
        lines = (ROOT / path).read_text().split("\n")
        texts = {}
        for id, mutant in enumerate(self.mutants):
            if mutant.path == path and id in self.alive:
                mutant.put(id, texts.setdefault(mutant.number, list(mutant.line)))
        for number, text in texts.items():
            lines[number] = "".join(text)
        if texts:
            first = 0 if not lines[0].startswith("#") else next(n for n, line in enumerate(lines) if " import " in line)
            lines[first] = "public import MutantSwitch; " + lines[first]
        (self.folder / path).write_text("\n".join(lines))

    def write_operators(self):
        text = [FUNCTIONS]
        for id in sorted(self.alive):
            mutant = self.mutants[id]
            if mutant.old not in PRECEDENCES:
                continue
            operator = mutant.operator(id)
            text.append(f"infix operator {operator}: {PRECEDENCES[mutant.old]}Precedence")
            mark, b = ("try ", "b()") if mutant.old in ("&&", "||") else ("", "b")
            for form in FORMS[mutant.old]:
                both = [f"a.advanced(by: {'b' if sign == '+' else '-b'})" if "Stride" in form or "Instant" in form else f"a {sign} {b}"
                        for sign in (mutant.new, mutant.old)]
                if "Instant" in form:
                    both = [one.replace("-b", ".zero - b") for one in both]
                text.append(f"public func {operator} {form} {{ {mark}mutant_is_on({id}) ? {mark}{both[0]} : {mark}{both[1]} }}")
        (self.folder / "Sources/MutantSwitch/Switch.swift").write_text("\n".join(text))

    def swift(self, *arguments):
        return subprocess.run(["swift", "build", *arguments, "-Xswiftc", "-use-ld=lld", "-Xswiftc", "-gline-tables-only"], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def settle(self):
        """Builds, and drops the mutants that do not compile, until what is left does."""
        width = 0
        while (build := self.swift()).returncode:
            errors = {(str(pathlib.Path(path).relative_to(self.folder)), int(line) - 1)
                      for path, line in re.findall(r"^(/\S+\.swift):(\d+):\d+: error:", build.stdout, re.MULTILINE)}
            if any(path.startswith("Sources/MutantSwitch") for path, _ in errors) or not errors:
                sys.exit(build.stdout)
            dropped = self.at(errors, 0)
            # The compiler may name another line of the same function.
            width = 0 if dropped else max(4, width * 2)
            dropped = dropped or self.at(errors, width, "a call") or self.at(errors, width)
            self.alive -= dropped
            print(f"{len(dropped)} mutants do not compile", flush=True)
            for path in {path for path, _ in errors}:
                self.write(path)

    def at(self, places, width, kind=None):
        return {id for id in self.alive if (mutant := self.mutants[id]) and kind in (None, mutant.kind)
                and any(path == mutant.path and abs(number - mutant.number) <= width for path, number in places)}

    def build_tests(self):
        if (build := self.swift("--build-tests")).returncode:
            sys.exit(build.stdout)

    # The suites

    @property
    def tests(self):
        return next((self.folder / ".build/debug").glob("*.xctest"))

    def start(self, suites, **variables):
        """Starts some suites. Some mutants never stop to allocate, and a crash has no need of a backtrace."""
        names = "|".join(suite.replace(".", r"\.") for suite in suites)
        return subprocess.Popen(
            [self.tests, "--testing-library", "swift-testing", "--filter", f"^({names})(/|$)"], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1", "SHRINK": "0", "CI": "true", **variables},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))

    def run(self, suites, seconds, **variables):
        """Runs some suites up to the first failure. Returns `passed`, `killed` or `hung`."""
        process = self.start(suites, **variables)
        isLate = []

        def end():
            isLate.append(True)
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            for line in process.stdout:
                if "✘".encode() in line:
                    return "killed"
            return "hung" if isLate else "killed" if process.wait() else "passed"
        finally:
            timer.cancel()
            if process.poll() is None:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.wait()
            process.stdout.close()

    def see(self):
        """Runs each suite, and notes what it reaches and how long it takes."""
        listed = subprocess.run([self.tests, "--testing-library", "swift-testing", "--list-tests"], stdout=subprocess.PIPE, text=True).stdout
        suites = sorted(set(re.findall(r"^(\w+Tests\.\w+)(?=/)", listed, re.MULTILINE)))

        def one(suite):
            with tempfile.NamedTemporaryFile() as file:
                file.truncate(max(1, len(self.mutants)))
                start = time.monotonic()
                verdict = self.run([suite], 300, MUTANTS_REACHED=file.name)
                self.times[suite] = time.monotonic() - start
                self.reached[suite] = {id for id, byte in enumerate(pathlib.Path(file.name).read_bytes()) if byte}
                if verdict != "passed":
                    print(f"{suite}: {verdict} without a mutant, and is left out", flush=True)
                    del self.reached[suite]

        self.times, self.reached = {}, {}
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(one, suites))
        self.save()

    @functools.cached_property
    def words(self):
        """The words in the files of each suite, so that those are known which are about a source."""
        found = {}
        for path in (self.folder / "Tests").rglob("*.swift"):
            text = path.read_text()
            for suite in re.findall(r"\bstruct (\w+)", text):
                found.setdefault(suite, set()).update(re.findall(r"\w+", text))
        return found

    def attempt(self, id):
        """Tries a mutant with the suites that reach it: first those that have most to do with it, then all others at once."""
        mutant = self.mutants[id]
        name = re.split(r"[+.]", pathlib.Path(mutant.path).name)[0]
        suites = [suite for suite, numbers in self.reached.items() if id in numbers]
        if not suites:
            return "NOT REACHED"

        def distance(suite):
            own = suite.split(".")[1]
            return (not own.startswith(name), name not in self.words.get(own, ()), self.times[suite] > 4, len(self.reached[suite]))

        suites.sort(key=distance)
        for part in (suites[:4], suites[4:30], suites[30:]):
            if not part:
                break
            alone = sum(self.times[suite] for suite in part)
            verdict = self.run(part, 30 + min(4 * alone, 60 + alone), MUTANT=str(id))
            if verdict != "passed":
                return verdict
        return "SURVIVED"

    def judge(self, pattern=""):
        """Tries all mutants that match. Returns how many there were, and how many survived."""
        chosen = [id for id in sorted(self.alive) if re.search(pattern, f"{self.mutants[id].path}:{self.mutants[id].number + 1} #{id}#")]
        survived = 0

        def one(id):
            start = time.monotonic()
            return id, self.attempt(id), time.monotonic() - start

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for done in concurrent.futures.as_completed([pool.submit(one, id) for id in chosen]):
                id, verdict, seconds = done.result()
                mutant = self.mutants[id]
                survived += verdict in ("SURVIVED", "NOT REACHED")
                print(f"{verdict:11} {seconds:4.0f} s  #{id} {mutant.key}".replace(": ", f":{mutant.number + 1}: ", 1), flush=True)
        return len(chosen), survived


def main(arguments):
    if arguments[0] == "--try":
        return Copy(arguments[1]).judge(arguments[2] if len(arguments) > 2 else "")
    if arguments[0] == "--tests":
        copy = Copy(arguments[1])
        copy.take("Tests")
        copy.build_tests()
        return copy.see()
    everything = places.visible(ROOT)
    random.Random(int(arguments[0])).shuffle(everything)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(arguments[2] if len(arguments) > 2 else folder, everything if arguments[1] == "all" else everything[:int(arguments[1])])
        copy.folder.mkdir(parents=True, exist_ok=True)
        copy.make()
        copy.settle()
        copy.save()
        copy.build_tests()
        copy.see()
        if len(arguments) > 2:
            return
        tried, survived = copy.judge()
        print(f"{tried} drawn mutants compile, {survived} of them survive")
        sys.exit(tried == 0 or survived * 25 > tried)


main(sys.argv[1:])
