#!/usr/bin/env python3
"""Finds symbols that the built documentation shows in no group: on the front page, on the page of a type that has groups,
and on that of a type that ought to have them, being large, an alias, or the heir of another.
usage: groups.py ARCHIVE"""
import json
import pathlib
import sys

LARGE = 8    # members beside the cases of an enumeration, from which on a page has to have groups

pages = {}
for path in pathlib.Path(sys.argv[1], "data/documentation").rglob("*.json"):
    page = json.loads(path.read_text())
    pages[page["identifier"]["url"]] = page


def sections(url):
    """The groups of a page: title, whether docc made it up, and its members."""
    for section in pages[url].get("topicSections", []):
        yield section["title"], section.get("generated", False), set(section["identifiers"])


def ancestors(url):
    """The classes of ours that a class inherits from."""
    for section in pages[url].get("relationshipsSections", []):
        for name in section["identifiers"] if section["type"] == "inheritsFrom" else []:
            # docc leaves out the scheme in front of a class of the same module.
            parent = "doc:" + name.removeprefix("doc:")
            if parent in pages and pages[parent]["metadata"]["symbolKind"] == "class":
                yield parent
                yield from ancestors(parent)


faults, grouped = [], 0
for url, page in sorted(pages.items()):
    kind = page["metadata"].get("symbolKind")
    if kind not in ("module", "class", "struct", "enum", "protocol", "typealias"):
        continue
    name = page["metadata"]["title"]
    by_need = {m for _, generated, members in sections(url) if not generated for m in members}
    left = {m for title, generated, members in sections(url) if generated and title != "Enumeration Cases" for m in members}
    left -= by_need
    # A protocol that refines a class has no members of its own to show.
    parents = list(ancestors(url)) if kind == "class" else []
    # What the class overrides is its own.
    own = {m.rsplit("/", 1)[1] for m in by_need}
    inherited = {m for parent in parents for _, _, members in sections(parent) for m in members if m.rsplit("/", 1)[1] not in own}
    if not by_need and not parents and len(left) <= LARGE and not (kind == "typealias" and url.count("/") == 5):
        continue
    grouped += 1
    if not by_need and not left:
        faults.append(f"{name} has no groups")
    faults += [f"{name} shows {m.rsplit('/', 1)[1]} in no group" for m in sorted(left)]
    faults += [f"{name} does not show {'/'.join(m.split('/')[-2:])}, which it inherits" for m in sorted(inherited - by_need)]
print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
print(f"{grouped} pages show their symbols by need")
sys.exit(1 if faults else 0)
