#!/usr/bin/env -S python3 -B
"""Draws samples: for each figure of a table a panel of bars, one a peer, of which shorter is better.

Usage: chart.py --table NAME [--table NAME …] --title WORDS FILE… > CHART.svg

A table with a reference is drawn as ratios to it, others as they are.
"""

import argparse
import sys
from dataclasses import dataclass
from statistics import median

import samples
import svg
from ratios import ratio

WIDTH, COLUMNS, GAP, MARGIN = 880, 2, 40, 16
LABELS, VALUES = 112, 44  # what stands left and right of the bars
BAR, STEP, HEAD = 12, 18, 30
LONGEST_RATIO = 3
OURS, REFERENCE, THEIRS = ["#f05138", "#f4775f", "#f79d88", "#fac3b3"], "#5b9bd5", "#8e9aa8"


@dataclass
class Bar:
    peer: str
    value: float
    label: str
    low: float
    high: float


@dataclass
class Panel:
    title: str
    bars: list
    reference: str | None

    @property
    def height(self):
        return HEAD + STEP * len(self.bars)


def panels(read, title):
    reference = read.about.get("references", {}).get(title)
    for figure, rounds in read.tables[title].items():
        bars = []
        unit = read.units[title, figure]
        for peer in read.peers(title):
            if reference and (found := ratio(rounds.get(peer, {}), rounds.get(reference, {}))):
                bars.append(Bar(peer, found.value, f"{found.value:.2f}", found.low, found.high))
            elif not reference and peer in rounds:
                value = median(rounds[peer].values())
                bars.append(Bar(peer, value, f"{value:,.0f}", value, value))
        heading = figure if reference else ", ".join(filter(None, [title, figure, unit]))
        yield Panel(heading, bars, reference)


def colours(panels):
    peers = list(dict.fromkeys(bar.peer for panel in panels for bar in panel.bars))
    ours = [peer for peer in peers if peer.startswith("ours")]
    references = {panel.reference for panel in panels}
    return {
        peer: OURS[ours.index(peer) % len(OURS)] if peer in ours else REFERENCE if peer in references else THEIRS
        for peer in peers
    }


def longest_of(panels):
    """Panels of ratios share a scale. A bar that is too long for the others is cut, and its number tells."""
    bars = [bar for panel in panels for bar in panel.bars]
    if panels[0].reference:
        return min(max(bar.high for bar in bars), LONGEST_RATIO)
    return min(max(bar.high for bar in bars), 3 * median(bar.value for bar in bars))


def draw(panel, x, y, width, colour, longest):
    room = width - LABELS - VALUES
    left = x + LABELS
    scale = room / longest
    bottom = y + HEAD + STEP * len(panel.bars) - STEP + BAR
    yield svg.text(x, y + 12, panel.title, 13, weight="600")
    for row, bar in enumerate(panel.bars):
        top = y + HEAD + STEP * row
        end = left + min(bar.value * scale, room)
        yield svg.text(left - 8, top + 10, bar.peer, 11.5, anchor="end")
        yield svg.bar(left, top, end - left, BAR, colour[bar.peer])
        if bar.low < bar.high <= longest:
            middle = top + BAR / 2
            yield svg.line(left + bar.low * scale, middle, left + bar.high * scale, middle, width=1.5)
        if bar.value > longest:
            yield svg.cut(end - 14, top, BAR)
        yield svg.text(x + width, top + 10, bar.label, 11.5, anchor="end")
    if panel.reference:
        yield svg.line(left + scale, y + HEAD - 5, left + scale, bottom + 5, dashes="3 3")


def chart(title, note, drawn):
    colour = colours(drawn)
    width = (WIDTH - 2 * MARGIN - GAP * (COLUMNS - 1)) / COLUMNS
    y = 64
    ratios = [panel for panel in drawn if panel.reference]
    shapes = [svg.text(MARGIN, 26, title, 17, weight="600"), svg.text(MARGIN, 46, note, 11.5)]
    for start in range(0, len(drawn), COLUMNS):
        line = drawn[start : start + COLUMNS]
        for column, panel in enumerate(line):
            longest = longest_of(ratios if panel.reference else [panel])
            shapes += draw(panel, MARGIN + column * (width + GAP), y, width, colour, longest)
        y += max(panel.height for panel in line) + 20
    return svg.document(WIDTH, y, title, shapes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="append", required=True)
    parser.add_argument("--title", required=True)
    parser.add_argument("file", nargs="+")
    options = parser.parse_args()
    read = samples.read(options.file)
    missing = [name for name in options.table if name not in read.tables]
    if missing:
        sys.exit(f"no samples of {', '.join(missing)}")
    drawn = [panel for name in options.table for panel in panels(read, name)]
    references = {panel.reference for panel in drawn if panel.reference}
    note = "".join(f"{name} = 1 (dashed). " for name in sorted(references)) + "Shorter is better."
    versions = read.about.get("versions", {})
    note += " " + ", ".join(f"{name} {versions[name]}" for name in versions if name not in ("clang", "Python"))
    print(chart(options.title, note, drawn), end="")


main()
