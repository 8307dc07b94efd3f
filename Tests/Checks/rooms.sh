#!/usr/bin/env python3
"""Holds the walls between the rooms: rooms.txt says which folder may name the types and the members of which, and in which
files some words may occur. What is listed there and does not occur any more is a fault, too, and so is a folder that is not.

A member counts if one folder of all alone declares it. A name that the naming file declares, too, or that many things
have, such as the standard library's, may be another one, and does not."""
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
member = re.compile(r"^ {0,4}(?:@\S+(?:\([^)]*\))? )*(?:(?:public|package|open|final|static|class|nonisolated|mutating|override|"
                    r"consuming|borrowing|unowned|weak|lazy|(?:private|fileprivate|package)\(set\)) )*(?:func|var|let) (\w+)", re.M)
local = re.compile(r"\b(?:let|var|func|case|in|for|inout|_) (\w+)\b|\b(\w+):|\(\s*(\w+)\s*[,)]")
COMMON = set("contains insert reduce forEach available size sequence compactMap print key nanoseconds identity shared isOver "
               "cancellation write none removeAll open with nil first joined stopped element failure parent validate unknown".split())
code, home, members = {}, {}, collections.defaultdict(set)
for path in sorted(sources.rglob("*.swift")):
    name = str(path.relative_to(sources))
    text = re.sub(r'"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|//.*', '""', path.read_text())
    code[name] = text
    for declared in declaration.findall(text):
        home[declared] = name.rsplit("/", 1)[0]
    for declared in member.findall(text):
        members[declared].add(name.rsplit("/", 1)[0])

faults, used = [], collections.defaultdict(set)
for name, text in code.items():
    room = name.rsplit("/", 1)[0]
    module = room.split("/")[0]
    if room not in rooms:
        faults.append(f"rooms.txt does not say what {room} may name")
        continue
    own = {word for found in local.findall(text) for word in found} | COMMON
    named = {(word, home.get(word, room)) for word in re.findall(r"(?<!\.)\b[A-Z]\w+", text)}
    for word in set(re.findall(r"\.([a-z]\w+)\b", text)) - own:
        if len(rooms_of := members[word]) == 1:
            named.add((word, *rooms_of))
    for word, other in sorted(named):
        if other == room or not other.startswith(module + "/"):
            continue
        used[room].add(other.split("/")[1])
        if other.split("/")[1] not in rooms[room] + extra.get(name, []):
            faults.append(f"{name} names {word}, which is of {other}: {room} may not name that room")
for word, places in words.items():
    pattern, found = re.compile(word if word.startswith("\\") else rf"(?<![\w])(?:{word})"), set()
    for name, text in code.items():
        if not pattern.search(re.sub(r'""', "", text)):
            continue
        allowed = [p for p in places if re.fullmatch(p, name.removesuffix(".swift"))]
        found.update(allowed)
        if not allowed:
            faults.append(f"{name} says {word!r}, which its room may not")
    faults += [f"rooms.txt allows {word!r} in {place}, where it does not occur" for place in places
               if place not in found and place != "nowhere"]
for room in rooms:
    if not (sources / room).is_dir():
        faults.append(f"rooms.txt speaks of {room}, which is no folder")
    faults += [f"rooms.txt lets {room} name {other}, which it does not" for other in rooms[room] if other not in used[room]]
print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
print(f"{len(rooms)} rooms name what they may")
sys.exit(1 if faults else 0)
