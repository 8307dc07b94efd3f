#!/usr/bin/env python3
"""Compiles the examples in the comments of the sources, each as a function behind Examples.swift beside this.
usage: comments.py MODULES"""
import pathlib
import re
import subprocess
import sys
import tempfile

most = 5
# Whole programs, which a newcomer copies.
longer = {"MainActor.swift", "SocketServer.swift"}
modules, here = sys.argv[1], pathlib.Path(__file__).parent
functions, faults = [], []
for path in sorted(pathlib.Path("Sources").rglob("*.swift")):
    example = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = re.match(r" */// ?(.*)", line)
        if text and text[1] == "```swift":
            example = []
        elif text and text[1] == "```" and example is not None:
            if len([code for code in example if code]) > most and path.name not in longer:
                faults.append(f"{path}:{number}: an example of more than {most} lines")
            body = "\n".join(example)
            functions.append(
                f'@MainActor func example{len(functions)}() async throws {{\n'
                f'#sourceLocation(file: "{path}", line: {number - len(example)})\n{body}\n#sourceLocation()\n}}\n')
            example = None
        elif example is not None:
            example.append(text[1] if text else line)

flags = subprocess.run(["pkg-config", "--cflags", "libuv"], capture_output=True, text=True, check=True).stdout.split()
with tempfile.NamedTemporaryFile("w", suffix=".swift") as file:
    file.write((here / "Examples.swift").read_text() + "\n" + "".join(functions))
    file.flush()
    result = subprocess.run(
        ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-suppress-warnings", "-diagnostic-style", "llvm",
         "-I", modules, "-I", "Sources/CLibUV", "-I", "Sources/CFuturesSystem", "-I", "Sources/CFuturesRuntime", "-I", "Sources/CFuturesTLS", *flags, file.name],
        capture_output=True, text=True)
faults += [result.stderr] if result.returncode else []
print(f"{len(functions)} examples in comments compile" if not faults else "\n".join(faults))
sys.exit(1 if faults else 0)
