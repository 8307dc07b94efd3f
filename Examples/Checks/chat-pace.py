#!/usr/bin/env python3
"""A member of a chat that sends many lines in one write, beside 100 others: what it makes the server send, and how long another
one waits for an answer meanwhile. usage: chat-pace.py PORT"""

import asyncio
import sys
import time

port = int(sys.argv[1])
LINES = {"/join lobby": 80_000, "/who": 120_000, "/help": 80_000, "/name a": 80_000, "/nonsense": 80_000, "x": 80_000, "y" * 4096: 80_000}
sent = 0


async def member(name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    writer.write(f"/name {name}\n/join lobby\n".encode())
    while not (await reader.readline()).startswith(b"* you are in"):
        pass
    return reader, writer


async def count(reader):
    global sent
    while data := await reader.read(1 << 20):
        sent += len(data)


async def answer(reader, writer):
    began = time.monotonic()
    writer.write(b"/name other\n")
    while await asyncio.wait_for(reader.readline(), 20) != b"* you are other\n":
        pass
    return time.monotonic() - began


async def burden(line, size, other):
    """Sends `size` bytes of a line, and watches for three seconds."""
    global sent
    reader, writer = await member("m")
    reading = asyncio.create_task(count(reader))
    await asyncio.sleep(0.2)
    sent = 0
    writer.write((line + "\n").encode() * (size // (len(line) + 1)))
    longest, end = 0, time.monotonic() + 3
    while time.monotonic() < end:
        longest = max(longest, await answer(*other))
        await asyncio.sleep(0.05)
    writer.transport.abort()
    reading.cancel()
    print(f"{size} bytes of {line[:12]}: {sent} bytes are sent in 3 s, and another one waits for {longest * 1000:.0f} ms at most")
    return sent, longest


async def main():
    crowd = [await member("n" * 29 + str(number)) for number in range(100)]
    for reader, _ in crowd:
        asyncio.create_task(count(reader))
    other = await member("other")
    speaker = await member("speaker")
    for _ in range(100):
        speaker[1].write(b"z" * 4000 + b"\n")
        while not (await speaker[0].readline()).startswith(b"ok "):
            pass
    speaker[1].write(b"/leave\n")
    await asyncio.sleep(11)
    for line, size in LINES.items():
        sent, longest = await burden(line, size, other)
        # Each message goes to all, and the histories of ten seconds at once.
        limit = 10_000_000
        assert sent < limit and longest < 0.5, f"{line[:12]} makes too much of {size} bytes"


asyncio.run(main())
