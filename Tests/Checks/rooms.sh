#!/usr/bin/env python3
"""Holds the walls between the rooms: rooms.txt says which folder may name the types of which, and in which files some
words may occur. What is listed there and does not occur any more is a fault, too."""
import collections
import pathlib
import re
import sys

sources = pathlib.Path("Sources")
rooms, extra, words = {}, {}, collections.defaultdict(list)
for line in pathlib.Path("Tests/Checks/rooms.txt").read_text().splitlines():
    if not line or line.startswith("#"):
        continue
    name, _, rest = line.rpartition(":")
    if name.endswith(".swift"):
        extra[name] = rest.split()
    elif re.fullmatch(r"\w+/\w+", name):
        rooms[name] = rest.split()
    else:
        words[name].append(rest.strip())

declaration = re.compile(r"^(?:@\S+ )*(?:(?:public|package|open|final|indirect|nonisolated) )*"
                         r"(?:class|struct|enum|protocol|actor) (\w+)", re.M)
code, home = {}, {}
for path in sorted(sources.rglob("*.swift")):
    name = str(path.relative_to(sources))
    text = re.sub(r'"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|//.*', '""', path.read_text())
    code[name] = text
    for declared in declaration.findall(text):
        home[declared] = name.rsplit("/", 1)[0]

faults = []
for name, text in code.items():
    room = name.rsplit("/", 1)[0]
    module = room.split("/")[0]
    for word in sorted(set(re.findall(r"(?<!\.)\b[A-Z]\w+", text))):
        other = home.get(word, room)
        if other == room or not other.startswith(module + "/") or room not in rooms:
            continue
        if other.split("/")[1] not in rooms[room] + extra.get(name, []):
            faults.append(f"{name} names {word}, which is of {other}: {room} may not name that room")
for word, places in words.items():
    pattern, used = re.compile(word if word.startswith("\\") else rf"(?<![\w])(?:{word})"), set()
    for name, text in code.items():
        if not pattern.search(re.sub(r'""', "", text)):
            continue
        allowed = [p for p in places if re.fullmatch(p, name.removesuffix(".swift"))]
        used.update(allowed)
        if not allowed:
            faults.append(f"{name} says {word!r}, which its room may not")
    faults += [f"rooms.txt allows {word!r} in {place}, where it does not occur" for place in places
               if place not in used and place != "nowhere"]
for room in rooms:
    if not (sources / room).is_dir():
        faults.append(f"rooms.txt speaks of {room}, which is no folder")
print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
print(f"{len(rooms)} rooms name what they may")
sys.exit(1 if faults else 0)
