#!/usr/bin/env python3
"""Draws the diagrams of "How it works" into the documentation's Resources, for light and for dark pages.
usage: diagrams.py [--check]    (draws nothing, and fails if a file or a room is not as it would be drawn)"""
import html
import pathlib
import sys

RESOURCES = pathlib.Path("Sources/UVFutures/Documentation.docc/Resources")
WIDTH = 480    # so that a letter of 13 is still one of 10 on a telephone
LIGHT = dict(ink="#1d1d1f", soft="#5f5f66", line="#8e8e93", room="#ffffff", module="#f2f2f5", mark="#d9ebff", edge="#0066cc")
DARK = dict(ink="#f5f5f7", soft="#b0b0b6", line="#8e8e93", room="#3a3a3d", module="#252528", mark="#0f3a66", edge="#4aa3ff")


class Diagram:
    def __init__(self, height, colors):
        self.colors = colors
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            'font-family="-apple-system, system-ui, Helvetica, Arial, sans-serif" font-size="13">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto" '
            f'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="{colors["line"]}"/></marker></defs>']

    def text(self, x, y, text, color="ink", anchor="middle", **style):
        style = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
        self.parts.append(f'<text x="{x}" y="{y}" fill="{self.colors[color]}" text-anchor="{anchor}"{style}>'
                          f"{html.escape(text)}</text>")

    def box(self, x, y, width, height, *lines, fill="room", edge="line"):
        """A box with its lines in the middle: the first in full ink, the others softer."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{self.colors[fill]}" '
                          f'stroke="{self.colors[edge]}"/>')
        top = round(y + height / 2 + 4.5 - 8 * (len(lines) - 1), 1)
        for row, line in enumerate(lines):
            self.text(x + width / 2, top + 16 * row, line, "soft" if row else "ink", font_size=12 if row else 13)

    def arrow(self, *points, dashed=False):
        path = "M" + "L".join(f"{x} {y}" for x, y in points)
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{self.colors["line"]}" stroke-width="1.4"{dashes} '
                          'marker-end="url(#tip)"/>')

    def module(self, x, y, width, height, title, note):
        self.box(x, y, width, height, fill="module")
        self.text(x + 12, y + 21, title, anchor="start", font_weight="600")
        self.text(x + width - 12, y + 21, note, "soft", "end", font_size=12)

    def rooms(self, x, y, width, *names):
        """Rooms side by side, each as wide as its name asks for."""
        free = width - 7 * (len(names) - 1)
        letters = sum(len(name) + 3 for name in names)
        for name in names:
            own = free * (len(name) + 3) / letters
            self.box(round(x, 1), y, round(own, 1), 26)
            self.text(round(x + own / 2, 1), y + 17, name, font_size=12)
            x += own + 7


def rooms(d):
    """The modules, and the rooms in them; an arrow points to what may be named."""
    d.module(8, 8, 318, 105, "UVFutures", "libuv")
    for row, names in enumerate([["Threads", "Loop", "Host"], ["UV"]]):
        d.rooms(20, 38 + 33 * row, 294, *names)
    d.box(342, 8, 62, 48, "CLibUV", "C headers", fill="module")
    d.arrow((326, 32), (340, 32))
    d.arrow((167, 113), (167, 143))
    d.module(8, 145, 318, 204, "SystemIO", "system calls, no libuv")
    for row, names in enumerate([["DNS", "Unix", "Datagrams", "Watching"], ["TCP", "Files", "Sockets"],
                                 ["Processes", "ProxyProtocol"], ["Descriptors", "Signals", "Names"], ["Systemd", "System"]]):
        d.rooms(20, 175 + 33 * row, 294, *names)
    d.module(338, 66, 134, 166, "TLSStreams", "")
    for row, names in enumerate([["Server", "Errors"], ["Connection"], ["Context", "OpenSSL"], ["Certificates"]]):
        d.rooms(344, 96 + 33 * row, 122, *names)
    d.arrow((338, 190), (328, 190))
    d.box(342, 254, 62, 48, "CFutures", "System", fill="module")
    d.arrow((326, 278), (340, 278))
    d.box(410, 254, 62, 48, "CFutures", "TLS", fill="module")
    d.arrow((441, 232), (441, 252))
    d.module(338, 316, 134, 172, "FuturesTesting", "")
    for row, names in enumerate([["Explore", "Streams"], ["Processes", "World"], ["Virtual", "Network"], ["Loops", "Disk", "Basics"]]):
        d.rooms(344, 348 + 33 * row, 122, *names)
    d.arrow((338, 330), (328, 330))
    d.arrow((167, 349), (167, 380))
    d.module(8, 382, 318, 105, "ByteStreams", "no sockets")
    for row, names in enumerate([["Clients", "Reading", "Writing", "Ending"], ["Stream", "Limits", "Basics"]]):
        d.rooms(20, 414 + 33 * row, 294, *names)
    d.arrow((167, 487), (167, 517))
    d.module(8, 519, 464, 214, "Futures", "no input and output")
    for row, names in enumerate([["Typed", "Deferred", "Sequences", "Scopes", "Snapshots", "Remote"],
                                 ["Coordination", "Groups", "Time", "Cleanup", "Combinators"]]):
        d.rooms(20, 551 + 33 * row, 440, *names)
    d.box(14, 617, 452, 72, fill="mark", edge="edge")
    d.text(26, 657, "the core", anchor="start", font_size=12)
    for row, names in enumerate([["Cell", "Propagation", "Promise", "Future"], ["Cancellation", "Loop", "Tasks", "Diagnostics"]]):
        d.rooms(84, 623 + 33 * row, 376, *names)
    d.rooms(20, 697, 440, "Basics")
    d.arrow((240, 733), (240, 763))
    d.box(177, 765, 126, 52, "CFuturesRuntime", "C headers", fill="module")


def trip(d):
    """From the system's bytes to your closure, and back."""
    for x, title in [(80, "UVFutures/UV"), (240, "ByteStreams"), (400, "you")]:
        d.text(x, 24, title, font_weight="600")
    d.box(8, 42, 144, 52, "didRead", "begins a turn")
    d.arrow((152, 68), (166, 68))
    d.box(168, 42, 144, 52, "transportDidRead", "asks the reader")
    d.arrow((240, 94), (240, 120))
    d.box(168, 122, 144, 52, "receive", "one future at a time")
    d.arrow((240, 174), (240, 200))
    d.box(168, 202, 144, 52, "take", "calls the closure")
    d.arrow((312, 228), (326, 228))
    d.box(328, 202, 144, 52, "your closure", "connection.write($0)", fill="mark", edge="edge")
    d.arrow((400, 254), (400, 308), (314, 308))
    d.box(168, 282, 144, 52, "write", "if nothing is queued")
    d.arrow((168, 308), (154, 308))
    d.box(8, 282, 144, 52, "tryWrite", "uv_try_write")
    d.arrow((80, 334), (80, 398), (166, 398), dashed=True)
    d.text(92, 360, "what the system does not take", "soft", "start", font_size=12)
    d.box(168, 372, 144, 52, "OutboundQueue", "until there is room")
    d.arrow((240, 424), (240, 478), (154, 478), dashed=True)
    d.box(8, 452, 144, 52, "write", "uv_write")


def life(d):
    """The states of a future, and what follows them."""
    d.text(76, 54, "made", "soft", "end")
    d.arrow((84, 50), (118, 50))
    d.box(120, 16, 150, 68, "pending", "its promise is open,", "or its step waits", fill="mark", edge="edge")
    d.arrow((270, 50), (326, 50))
    d.box(328, 16, 144, 68, "linked", "ends as the future", "of its flatMap ends")
    for x, *lines in [(8, "success", "succeed, or a", "closure returns"),
                      (168, "failure", "fail, a throw, or a", "promise let go of"),
                      (328, "cancelled", "cancel, and nobody", "else waits")]:
        d.arrow((195, 84), (195, 114), (x + 72, 114), (x + 72, 144))
        d.box(x, 146, 144, 68, *lines)
        d.arrow((x + 72, 214), (x + 72, 244))
    d.box(8, 246, 464, 52, "the consumers join the ready queue", "in the order in which they were registered")
    d.arrow((240, 298), (240, 328))
    d.box(8, 330, 464, 52, "their closures run", "later in the turn, each once", fill="mark", edge="edge")


faults = []
for draw, height in [(rooms, 825), (trip, 512), (life, 390)]:
    for suffix, colors in [("", LIGHT), ("~dark", DARK)]:
        diagram, file = Diagram(height, colors), RESOURCES / f"{draw.__name__}{suffix}.svg"
        draw(diagram)
        picture = "\n".join(diagram.parts) + "\n</svg>\n"
        if "--check" not in sys.argv:
            file.parent.mkdir(exist_ok=True)
            file.write_text(picture)
        elif not file.is_file() or file.read_text() != picture:
            faults.append(f"{file} is not what diagrams.py draws")
        if draw is rooms and not suffix:
            faults += [f"{room} is not drawn" for room in sorted(pathlib.Path("Sources").glob("*/*/"))
                       if room.suffix != ".docc" and f">{room.name}</text>" not in picture]
print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
sys.exit(1 if faults else 0)
