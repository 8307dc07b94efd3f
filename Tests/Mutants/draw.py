#!/usr/bin/env python3
"""Draws mutants over all sources by seed, in the form of mutants.txt: each breaks one line, without a look at what the line
is for.

A drawn mutant may change nothing that can be seen. Those that were found to are in equivalent.txt, by file, line of code and
what was made of it, and are not drawn again; what is listed there and cannot be drawn any more is an error.
usage: draw.py SEED COUNT    with a COUNT of 0, only that list is checked
"""
import pathlib
import random
import re
import sys

CALL = re.compile(r"^\s+(?:try )?(?:unsafe )?[A-Za-z_][\w.?!]*\(.*\)$")
CONDITION = re.compile(r"^(\s*(?:guard|if|while) )((?:(?!let |var |case |, |#|\{).)+?)( else \{.*| \{.*)$")
DECLARES = re.compile(r"^\s*(?:@|#|//|import |case |[\w() ]*\b(?:func|init|subscript|deinit|class|struct|enum|protocol|extension)\b)")
SWAPS = [
    ("a comparison", r" (<|>|<=|>=|==|!=) ", {"<": "<=", ">": ">=", "<=": "<", ">=": ">", "==": "!=", "!=": "=="}),
    ("an operator", r" (&&|\|\||\+|-) ", {"&&": "||", "||": "&&", "+": "-", "-": "+"}),
    ("a Boolean", r"\b(true|false)\b", {"true": "false", "false": "true"}),
]


def without_strings(line):
    """The line with the text of its strings blanked out, at the same places."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', lambda match: " " * len(match[0]), line).split(" //")[0]


def mutants(line):
    """All (kind, new line) of a line of code."""
    if DECLARES.match(line):
        return
    code = without_strings(line)
    if CALL.match(code):
        yield "a call", ""
    condition = CONDITION.match(code)
    if condition:
        start, end = condition.span(2)
        yield "a condition", f"{line[:start]}!({line[start:end]}){line[end:]}"
    for kind, pattern, new in SWAPS:
        for match in re.finditer(pattern, code):
            start, end = match.span(1)
            yield kind, line[:start] + new[match[1]] + line[end:]
    for match in re.finditer(r"(?<![\w.$])\d+(?![\w.])", code):
        yield "a constant", line[: match.start()] + str(int(match[0]) + 1) + line[match.end():]


def places(root):
    """All mutants: (file, number of the line, kind, new line)."""
    for path in sorted((root / "Sources").rglob("*.swift")):
        text = path.read_text()
        isText = False
        for number, line in enumerate(text.split("\n")):
            isText ^= line.count('"""') == 1
            if isText or line.strip().startswith("//"):
                continue
            for kind, new in mutants(line):
                yield path.relative_to(root), number, kind, new


def key(path, line, new):
    """A mutant as equivalent.txt names it."""
    return f"{path}: {line.strip()} => {new.strip()}".strip()


def context(lines, number):
    """The range of lines around one that occurs once in its file."""
    text = "\n".join(lines)
    for extra in range(12):
        chosen = lines[max(0, number - extra):number + 1]
        if text.count("\n".join(chosen)) == 1 and chosen[0].strip():
            return max(0, number - extra)
    return None


def suites(root):
    """The suites that mutants.txt names for each file."""
    found, types = {}, ""
    for line in (root / "Tests/Mutants/mutants.txt").read_text().split("\n"):
        if line.startswith("~ "):
            types = line[2:]
        elif line.startswith("Sources/"):
            found.setdefault(line, {}).update(dict.fromkeys(types.split("|")))
    return found


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = (root / "Tests/Mutants/equivalent.txt").read_text().split("\n")
    equivalent = {line.strip() for line in listed if line.startswith("Sources/")}
    named = suites(root)
    everything = list(places(root))
    texts = {path: (root / path).read_text().split("\n") for path, *_ in everything}
    keys = {(path, number, new): key(path, texts[path][number], new) for path, number, _, new in everything}
    if stale := equivalent - set(keys.values()):
        sys.exit("equivalent.txt has mutants that are not there:\n" + "\n".join(sorted(stale)))
    random.Random(seed).shuffle(everything)
    drawn = 0
    for path, number, kind, new in everything:
        if drawn == count:
            break
        lines = texts[path]
        start = context(lines, number)
        if start is None or keys[path, number, new] in equivalent:
            continue
        drawn += 1
        words = re.split(r"[+.]", path.name)[:-1]
        print("~", "|".join(dict.fromkeys([*words, path.parts[-2], *named.get(str(path), ()), "Agreement"])))
        print(f"= {seed}.{drawn} {kind}: {path}:{number + 1}")
        print(path)
        for line in lines[start:number + 1]:
            print(f"-{line}")
        for line in lines[start:number]:
            print(f"+{line}")
        print(f"+{new}\n")


main()
