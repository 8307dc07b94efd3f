"""What the figures depend on: the machine, the versions and the command."""

import os
import platform
import re
import shutil
import subprocess

from servers import HERE, PYTHON


def first_line(*command, pattern=r"(.*)"):
    """What the pattern's group matches in the first line of output; None where the program is not there."""
    if not shutil.which(command[0]):
        return None
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    match = re.search(pattern, result.stdout.partition("\n")[0])
    return match and match[1]


def processor():
    with open("/proc/cpuinfo") as lines:
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def swift_nio(package):
    return re.search(rf'{package}", exact: "([^"]+)', (HERE / "Peers/SwiftNIO/Package.swift").read_text())[1]


def here(command):
    versions = {
        "Swift": first_line("swift", "--version", pattern=r"version ([\d.]+)"),
        "clang": first_line("clang", "--version", pattern=r"version ([\d.]+)"),
        "libuv": first_line("pkg-config", "--modversion", "libuv"),
        "OpenSSL": first_line("pkg-config", "--modversion", "openssl"),
        "SwiftNIO": swift_nio("swift-nio"),
        "SwiftNIO SSL": swift_nio("swift-nio-ssl"),
        "Rust": first_line("rustc", "--version", pattern=r"rustc ([\d.]+)"),
        "Go": first_line("go", "version", pattern=r"go([\d.]+)"),
        "Node.js": first_line("node", "--version", pattern=r"v(.*)"),
        "uvloop": first_line(PYTHON, "-c", "import uvloop; print(uvloop.__version__)"),
        "Python": first_line(PYTHON, "--version", pattern=r"Python (.*)"),
    }
    return {
        "command": command,
        "machine": f"{processor()}, {os.cpu_count()} cores, Linux {platform.release()}",
        "versions": {name: version for name, version in versions.items() if version},
    }
