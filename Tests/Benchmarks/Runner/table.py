#!/usr/bin/env -S python3 -B
"""Prints samples as Markdown: a table of medians for each table of theirs, and what became of the targets.

Usage: table.py FILE...
"""

import sys
from statistics import median

import samples
import targets
from ratios import ratio


def number(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def row(cells):
    return f"| {' | '.join(cells)} |"


def head(cells):
    return [row(cells), "|---|" + "--:|" * (len(cells) - 1)]


def medians(title, table, units, peers):
    yield f"### {title}\n" if title else "### Figures\n"
    yield from head(["", *peers])
    for figure, rounds in table.items():
        unit = units[title, figure]
        cells = [number(median(rounds[peer].values())) if peer in rounds else "" for peer in peers]
        yield row([", ".join(filter(None, [figure, unit])), *cells])


def relative(title, table, reference, peers):
    yield f"### {title}, ÷ {reference}\n"
    yield from head(["", *peers])
    for figure, rounds in table.items():
        found = [ratio(rounds.get(peer, {}), rounds.get(reference, {})) for peer in peers]
        yield row([figure, *(f"{e.value:.2f} ({e.low:.2f} … {e.high:.2f})" if e else "" for e in found)])


def interval(target, found):
    form = (lambda value: f"{value:.2f}") if target.how == "×" else number
    return form(found.value), f"{form(found.low)} … {form(found.high)}"


def against_targets(all_tables):
    rows = []
    for target in targets.read():
        judged = target.judge(all_tables.get(target.table, {}))
        if judged:
            found, verdict = judged
            aim = f"{'+ ' if target.how == '+' else ''}{target.limit:g}{' ×' if target.how == '×' else ''}"
            where = f"{target.table}, {target.figure}"
            rows.append(
                row([where, target.peer, target.against or "", *interval(target, found), aim, verdict])
            )
    if rows:
        yield "### Targets\n"
        yield from head(["", "peer", "against", "median", "95 % interval", "at most", ""])
        yield from rows


def background(about, rounds):
    versions = ", ".join(f"{name} {version}" for name, version in about.get("versions", {}).items())
    yield f"Medians of {rounds} interleaved rounds, of ratios within a round where two are compared; intervals by bootstrap."
    yield f"{about.get('machine', 'Unknown machine')}; {versions}."
    yield f"Measured with `{about.get('command', '')}`."


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    read = samples.read(sys.argv[1:])
    for title, table in read.tables.items():
        peers = read.peers(title)
        print(*medians(title, table, read.units, peers), "", sep="\n")
        reference = read.about.get("references", {}).get(title)
        if reference:
            others = [peer for peer in peers if peer != reference]
            print(*relative(title, table, reference, others), "", sep="\n")
    print(*against_targets(read.tables), "", sep="\n")
    rounds = max(len(r) for table in read.tables.values() for figure in table.values() for r in figure.values())
    print(*background(read.about, rounds), sep="\n")


main()
