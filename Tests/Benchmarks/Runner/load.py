"""The scenarios, and the load generator that plays them."""

import json
import subprocess
import sys
from dataclasses import dataclass

from servers import BUILD


@dataclass
class Scenario:
    figure: str
    options: str
    round_trips: int  # as many as take C on libuv a quarter of a second, twice that where rounds differ most


SCENARIOS = [
    Scenario("1 × 64 B", "--connections 1", 15_000),
    Scenario("50 × 64 B", "--connections 50", 40_000),
    Scenario("1,000 × 64 B", "--connections 1000", 80_000),
    Scenario("50 × 64 B, sixteen deep", "--connections 50 --depth 16", 500_000),
    Scenario("50 × 16 KiB", "--connections 50 --size 16384", 25_000),
    Scenario("1 × 1 MiB", "--connections 1 --size 1048576", 400),
    Scenario("churn, 50 at a time", "--connections 50 --churn", 6_000),
]
ASYNCHRONOUS = [scenario for scenario in SCENARIOS if scenario.figure != "1 × 64 B"]
LINES = [
    Scenario("50 × 64 B", "--lines --connections 50", 40_000),
    Scenario("50 × 64 B, sixteen deep", "--lines --connections 50 --depth 16", 200_000),
    Scenario("50 × 16 KiB", "--lines --connections 50 --size 16384", 15_000),
    Scenario("1 × 1 MiB", "--lines --connections 1 --size 1048576", 200),
]
DATAGRAMS = [
    Scenario("50 × 64 B", "--datagrams --connections 50", 60_000),
    Scenario("50 × 64 B, sixteen deep", "--datagrams --connections 50 --depth 16", 100_000),
    Scenario("50 × 1,400 B", "--datagrams --connections 50 --size 1400", 40_000),
]
TOPICS = {"echo": SCENARIOS, "datagrams": DATAGRAMS, "asynchronous": ASYNCHRONOUS, "lines": LINES}
IDLE = 5_000


def generate(server, core, options, first=()):
    """Plays a scenario; `first` is a command that starts the load generator."""
    command = ["taskset", "-c", str(core), *first, BUILD / "c/load", "--port", server.port, "--server-pid", str(server.pid)]
    result = subprocess.run(
        [*command, *options.split()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    if result.returncode != 0:
        sys.exit(f"the load generator failed against {' '.join(server.process.args)}: {options}")
    return json.loads(result.stdout)
