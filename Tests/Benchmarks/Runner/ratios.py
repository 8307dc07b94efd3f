"""What two peers' samples of the same rounds say of each other."""

import operator
import random
from dataclasses import dataclass
from statistics import median

RESAMPLES = 1000
FEWEST = 5  # rounds that say something


@dataclass
class Estimate:
    """A median, and the interval in which 95 of a hundred would lie if the rounds were drawn again."""

    value: float
    low: float
    high: float
    rounds: int

    @property
    def width(self):
        return self.high - self.low


def estimate(values):
    """Of a median, by bootstrap: the medians of as many values, drawn from these with replacement."""
    values = list(values)
    draw = random.Random(1)  # so that the same samples say the same
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = RESAMPLES // 40
    return Estimate(median(values), medians[tail], medians[-1 - tail], len(values))


def pairs(ours, theirs):
    return [(ours[number], theirs[number]) for number in sorted(ours.keys() & theirs.keys())]


def paired(ours, theirs, how):
    values = [how(mine, other) for mine, other in pairs(ours, theirs)]
    return estimate(values) if values else None


def repeats(rounds):
    """Whether these are the one sample of a figure that is the same whenever it is taken."""
    return rounds.keys() == {0}


def ratio(ours, theirs):
    return paired(ours, theirs, operator.truediv)


def difference(ours, theirs):
    return paired(ours, theirs, operator.sub)
