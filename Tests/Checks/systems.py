#!/usr/bin/env python3
"""Counts the test functions that run on both systems, the kernel's and a simulated one, by an argument of the type
TestNetwork. Fails if there are fewer than 150."""
import pathlib
import re
import sys

LEAST = 150
function = re.compile(r"@Test\b(?:(?!@Test\b).)*?\bfunc \w+(?P<parameters>\(.*?\)) (?:async )?(?:throws )?\{", re.DOTALL)
tests = [match["parameters"] for path in pathlib.Path("Tests/UVFuturesTests").rglob("*.swift")
         for match in function.finditer(path.read_text())]
both = sum("TestNetwork" in parameters for parameters in tests)
print(f"{both} of {len(tests)} test functions run on both systems")
sys.exit(both < LEAST)
