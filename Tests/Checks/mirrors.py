#!/usr/bin/env python3
"""A source file without a test file of its name is the exception: Sources/M/Room/Type+Name.swift has one in Tests/MTests
called NameTests.swift. Prints how many have, and fails if more than a quarter has none."""
import pathlib
import sys

files = missing = 0
for module in ("Futures", "ByteStreams", "UVFutures", "FuturesTesting", "TLSStreams"):
    tests = {path.stem for path in pathlib.Path(f"Tests/{module}Tests").rglob("*.swift")}
    names = [path.stem.split("+")[-1] + "Tests" for path in pathlib.Path(f"Sources/{module}").rglob("*.swift")]
    files += len(names)
    missing += sum(name not in tests for name in names)
print(f"{files - missing} of {files} source files have a test file of their name")
sys.exit(missing * 4 > files)
