"""Reads targets.txt, and says which of them are met."""

import re
import sys
from dataclasses import dataclass

from ratios import FEWEST, difference, estimate, ratio, repeats
from servers import HERE

SLACK = 0.03  # of a ratio: the end of the interval may lie so far above the target
WIDEST = 0.06  # of a ratio: a wider interval says nothing, unless all of it is below the target


@dataclass
class Target:
    table: str
    figure: str
    peer: str
    limit: float
    how: str  # "×" of the other's, "+" what the other has, or "" by itself
    against: str | None

    def judge(self, figures):
        """The estimate and the verdict on it; None where samples are not there."""
        rounds = figures.get(self.figure, {})
        ours, theirs = rounds.get(self.peer), rounds.get(self.against)
        if not ours or self.how and not theirs:
            return None
        found = self.estimate(ours, theirs)
        return found and (found, self.verdict(found, repeats(ours)))

    def estimate(self, ours, theirs):
        if self.how == "×":
            return ratio(ours, theirs)
        return difference(ours, theirs) if self.how == "+" else estimate(ours.values())

    def verdict(self, found, exact):
        by_factor = self.how == "×"
        limit = self.limit + (SLACK if by_factor else 0)
        enough = exact or found.rounds >= FEWEST
        if enough and found.low > limit:
            return "not met"
        if enough and by_factor and found.high <= self.limit:
            return "met"
        if not enough or by_factor and found.width > WIDEST:
            return "says nothing: run more rounds"
        return "met" if found.high <= limit else "not met"


LINE = re.compile(r"(?P<limit>[\d.]+)(?: (?P<times>×) (?P<of>.+))?|(?P<plus>\+) (?P<more>[\d.]+) (?P<than>.+)")


def parse(line):
    table, figure, peer, limit = (part.strip() for part in line.split("|"))
    match = LINE.fullmatch(limit)
    return Target(
        table,
        figure,
        peer,
        float(match["limit"] or match["more"]),
        match["times"] or match["plus"] or "",
        match["of"] or match["than"],
    )


def read():
    targets = []
    path = HERE / "targets.txt"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            try:
                targets.append(parse(line))
            except (ValueError, TypeError):
                sys.exit(f"{path}:{number}: not a target: {line}")
    return targets
