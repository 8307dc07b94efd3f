#!/usr/bin/env python3
"""The page Programs says how many lines each program and each library of them has. Blank lines and lines with a comment
alone do not count. The page RunningInProduction names the tests that hold the limits of the programs.
usage: program-lines.py [--write]"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
page = root / "Sources/UVFutures/Documentation.docc/Programs.md"
# A row whose first cell is code names a path, and ends with its number of lines.
row = re.compile(r"^(\| `([^`]+)` \|.*\| )(\d+)( \|)$", re.MULTILINE)
# By suffix, what a comment begins with.
comments = {".swift": "//", ".c": "//", ".h": "//", ".js": "//", ".py": "#", ".lua": "--"}


def lines(name):
    listed = subprocess.run(["git", "ls-files", "-z", name], cwd=root, check=True, capture_output=True, text=True).stdout
    files = [root / file for file in listed.split("\0") if pathlib.Path(file).suffix in comments]
    if not files:
        sys.exit(f"program-lines.py: the page names {name}, which has no sources")
    return sum(
        bool(line.strip()) and not line.strip().startswith(comments[file.suffix])
        for file in files for line in file.read_text().splitlines())


text = page.read_text()
programs = {path for _, path, _, _ in row.findall(text)}
true = row.sub(lambda match: match[1] + str(lines(match[2])) + match[4], text)
if "--write" in sys.argv[1:]:
    page.write_text(true)
elif true != text:
    for old, new in zip(text.splitlines(), true.splitlines()):
        if old != new:
            print(f"{new.split('`')[1]}: {old.split('|')[-2].strip()} lines on the page, and not "
                  f"{new.split('|')[-2].strip()}")
    sys.exit("Programs.md has other numbers of lines than the programs; run Tests/Checks/program-lines.py --write")
package = (root / "Examples/Package.swift").read_text()
commands = {f"Examples/Sources/{name}" for name in re.findall(r'executableTarget\(\s*name: "(\w+)"', package)}
left = sorted(commands - programs)
if left:
    sys.exit(f"Programs.md does not name {', '.join(left)}")
production = (root / "Sources/UVFutures/Documentation.docc/RunningInProduction.md").read_text()
tests = {file.name.removesuffix(".swift") for place in ("Examples/Checks", "Examples/Tests") for file in (root / place).rglob("*")}
rows = production.partition("| held by |\n")[2].partition("\n\n")[0].splitlines()[1:]
for line in rows:
    named = re.findall(r"`([^`]+)`", line.split("|")[-2])
    if not named or set(named) - tests:
        sys.exit(f"RunningInProduction.md: no test of that name holds the limit: {line}")
if not rows:
    sys.exit("RunningInProduction.md has no table of the programs' limits")
print(f"{len(programs)} programs and libraries, each with its number of lines")
