#!/usr/bin/env python3
"""Each name of a number that users give (api.txt) stands in a test of numbers. Prints those that do not, and fails."""
import pathlib
import re
import sys

numbers = r"(?:Int|Int32|CInt|UInt32|Double|Duration)\??"
settable = re.compile(rf"var (\w+): {numbers}(?: {{ get (?:nonmutating )?set }})?$")
parameter = re.compile(rf"(\w+)(?: \w+)?: {numbers}(?=[,)]| =)")
# What a test or a server tells, and texts of errors: nobody decides by them.
told = re.compile(r"(Statistics|Counts|Summary|Outcome|ConnectError|DatagramHeader|DecodedFrame): |: (case|let) ")
names = {}
for line in pathlib.Path("Tests/Checks/api.txt").read_text().splitlines():
    if not told.search(line):
        for name in settable.findall(line) + parameter.findall(line.rsplit(" -> ", 1)[0]):
            names.setdefault(name, line)
tests = "".join(
    path.read_text() for path in pathlib.Path("Tests").glob("*Tests/**/*.swift")
    if re.search("(Numbers|Misuse|FileArguments|ProxyProtocol)Tests", path.name))
missing = [name for name in names if not re.search(rf"\b{name}\b", tests)]
for name in missing:
    print(f"no test of numbers names {name}, as in {names[name][:100]}")
sys.exit(bool(missing))
