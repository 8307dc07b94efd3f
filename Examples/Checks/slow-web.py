#!/usr/bin/env python3
"""Clients of WebServer that are slow on purpose, against limits of a second or two. usage: slow-web.py PORT PID"""

import asyncio
import re
import sys

port, pid = int(sys.argv[1]), sys.argv[2]
CLIENTS = 200


def resident():
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1024


async def drips(text, pause=0.2, most=12):
    """Sends a byte from time to time; returns what is heard until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    hearing = asyncio.create_task(reader.read())
    try:
        for byte in text:
            writer.write(bytes([byte]))
            await writer.drain()
            done, _ = await asyncio.wait([hearing], timeout=pause)
            if done:
                break
        return await asyncio.wait_for(hearing, most)
    except ConnectionError:
        return b""
    finally:
        hearing.cancel()
        writer.close()


async def stalls(head):
    """Sends a beginning, and then nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    try:
        return await asyncio.wait_for(reader.read(), 12)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def reads_nothing():
    """Asks for much, and takes nothing of it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    writer.transport.pause_reading()
    request = b"GET /bytes/1048576 HTTP/1.1\r\nHost: a\r\n\r\n" * 200
    try:
        for _ in range(60):
            writer.write(request)
            await asyncio.wait_for(asyncio.sleep(0.2), 1)
            if writer.transport.is_closing():
                break
        writer.transport.resume_reading()
        await asyncio.wait_for(reader.read(), 12)
    except (ConnectionError, asyncio.TimeoutError):
        pass
    finally:
        writer.transport.abort()


async def main():
    before = resident()
    endless = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 1000
    body = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
    chunks = b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    groups = [
        [drips(endless) for _ in range(CLIENTS)],
        [drips(body + b"x" * 1000, 0.02) for _ in range(20)],
        [stalls(body + b"xyz") for _ in range(CLIENTS)],
        [stalls(chunks + b"5\r\nhel") for _ in range(CLIENTS)],
        [stalls(b"") for _ in range(CLIENTS)],
        [reads_nothing() for _ in range(20)],
    ]
    # While they are there, others are served at once.
    async def others():
        longest = 0
        loop = asyncio.get_running_loop()
        for _ in range(30):
            start = loop.time()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert (await reader.read()).endswith(b"Hello, world!\n")
            longest = max(longest, loop.time() - start)
            writer.close()
            await asyncio.sleep(0.1)
        return longest

    *_, longest = await asyncio.wait_for(asyncio.gather(*[one for group in groups for one in group], others()), 40)
    print(f"WebServer: slow clients are cut off; another one waits for {longest * 1000:.0f} ms at most, memory grows by "
          f"{(resident() - before) >> 10} KiB")
    assert longest < 2, "others wait for slow clients"
    assert resident() - before < 64 << 20, "memory that slow clients took stays taken"


asyncio.run(main())
