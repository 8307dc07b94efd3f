#!/usr/bin/env python3
"""Opens WebSockets that do nothing, and asks WebServer what heap each takes. usage: idle-web.py PORT COUNT"""

import asyncio
import re
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
HANDSHAKE = (b"GET /echo HTTP/1.1\r\nHost: localhost\r\nUser-Agent: idle\r\nAccept-Encoding: gzip\r\nUpgrade: websocket\r\n"
             b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")


async def metrics():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    text = (await reader.read()).decode()
    writer.close()
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)$", text, re.M)}


async def opened():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HANDSHAKE)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
    # One message: what was used once stays, if anything does.
    writer.write(b"\x81\x82\0\0\0\0hi")
    assert await reader.readexactly(4) == b"\x81\x02hi"
    return reader, writer


async def main():
    await metrics()
    before = (await metrics())["webserver_heap_bytes"]
    sockets = []
    while len(sockets) < count:
        sockets += await asyncio.gather(*[opened() for _ in range(min(200, count - len(sockets)))])
    after = await metrics()
    assert after["webserver_websockets"] == count, f"there are {after['webserver_websockets']} WebSockets"
    each = (after["webserver_heap_bytes"] - before) / count
    print(f"WebServer: each of {count} idle WebSockets takes {each:.0f} bytes of heap")
    assert each <= 2048, "that is more than 2 KiB"


asyncio.run(main())
