"""Finds what one could break in the sources, one place of a line at a time, without a look at what the line is for.

A mutant that changes nothing that can be seen is in equivalent.txt, by file, line of code and what was made of it. To be
tried, a mutant is written into its line as a switch, with others: `a + b` becomes `a +↑ b`, an operator that is `-` if that
mutant is on.
"""
import dataclasses
import pathlib
import re
import sys

CALL = re.compile(r"^\s+((?:try )?(?:unsafe )?[A-Za-z_][\w.?!]*\(.*\))$")
CONDITION = re.compile(r"^\s*(?:guard|if|while) ((?:(?!let |var |case |, |#|\{).)+?)(?: else \{.*| \{.*)$")
BOOLEAN = re.compile(r"\b(true|false)\b")
CONSTANT = re.compile(r"(?<![\w.$])(\d+)(?![\w.])")
SWAPS = [
    ("a comparison", r" (<|>|<=|>=|==|!=) ", {"<": "<=", ">": ">=", "<=": "<", ">=": ">", "==": "!=", "!=": "=="}),
    ("an operator", r" (&&|\|\||\+|-) ", {"&&": "||", "||": "&&", "+": "-", "-": "+"}),
]
OTHERS = {operator: other for _, _, swaps in SWAPS for operator, other in swaps.items()}
DECLARES = re.compile(r"^\s*(?:@|#|//|import |case |[\w() ]*\b(?:func|init|subscript|deinit|class|struct|enum|protocol|extension)\b)")
EQUIVALENT = "Tests/Mutants/equivalent.txt"


@dataclasses.dataclass
class Mutant:
    """A place of a line, what stands there, and what the mutant makes of it."""
    path: str
    number: int
    kind: str
    span: tuple
    old: str
    new: str
    line: str

    @property
    def key(self):
        """The mutant as equivalent.txt names it."""
        start, end = self.span
        return f"{self.path}: {self.line.strip()} => {(self.line[:start] + self.new + self.line[end:]).strip()}".strip()

    def put(self, id, text):
        """Puts the mutant's switch into its line, which is a list of the text at each character, for what stands around it."""
        start, end = self.span
        if self.kind in ("a call", "a condition", "a Boolean"):
            before, after = {"a call": (f"if !mutant({id}) {{ ", " }"), "a condition": (f"(mutant({id}) != (", "))"),
                             "a Boolean": (f"(mutant({id}) != ", ")")}[self.kind]
            text[start] = before + text[start]
            text[end - 1] += after
        else:
            text[start] = f"mutant({id}, {self.old}, {self.new})" if self.kind == "a constant" else self.operator(id)
            text[start + 1:end] = [""] * (end - start - 1)

    def operator(self, id):
        return self.old + "".join(chr(0x2190 + int(digit)) for digit in str(id))


def without_strings(line):
    """The line with the text of its strings blanked out, at the same places."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', lambda match: " " * len(match[0]), line).split(" //")[0]


def found(code):
    """The kind, the match and the new text of each mutant of a line of code, those within others first."""
    for match in CONSTANT.finditer(code):
        yield "a constant", match, str(int(match[1]) + 1)
    for kind, pattern, swaps in SWAPS:
        for match in re.finditer(pattern, code):
            yield kind, match, swaps[match[1]]
    for match in BOOLEAN.finditer(code):
        yield "a Boolean", match, "false" if match[1] == "true" else "true"
    if match := CONDITION.match(code):
        yield "a condition", match, None
    if match := CALL.match(code):
        yield "a call", match, ""


def mutants(root):
    """All mutants below a folder, in order."""
    for path in sorted((root / "Sources").rglob("*.swift")):
        isText = False
        for number, line in enumerate(path.read_text().split("\n")):
            isText ^= line.count('"""') == 1
            if isText or DECLARES.match(line):
                continue
            for kind, match, new in found(without_strings(line)):
                start, end = match.span(1)
                old = line[start:end]
                yield Mutant(str(path.relative_to(root)), number, kind, (start, end), old, f"!({old})" if new is None else new, line)


def visible(root):
    """All mutants that change what can be seen. Ends the program if one is listed that is not there any more."""
    everything = list(mutants(root))
    listed = {line.strip() for line in (root / EQUIVALENT).read_text().split("\n") if line.startswith("Sources/")}
    if stale := listed - {mutant.key for mutant in everything}:
        sys.exit(f"{EQUIVALENT} has mutants that are not there:\n" + "\n".join(sorted(stale)))
    return [mutant for mutant in everything if mutant.key not in listed]


if __name__ == "__main__":
    visible(pathlib.Path(__file__).resolve().parents[2])
