#!/usr/bin/env python3
"""Speaks with WebServer's /echo by Python's websockets, and by frames that break the rules. usage: web-sockets.py PORT"""

import asyncio
import base64
import os
import struct
import sys

import websockets

port = int(sys.argv[1])
url = f"ws://127.0.0.1:{port}/echo"


async def echoes():
    async with websockets.connect(url, max_size=None) as socket:
        assert socket.response_headers.get("Sec-WebSocket-Extensions") is None, "an extension was agreed on"
        for message in ["hi", "", "ä€😀" * 1000, b"", b"\x00\xff", os.urandom(125), os.urandom(126), os.urandom(65_535),
                        os.urandom(65_536), os.urandom(1_000_000)]:
            await socket.send(message)
            assert await socket.recv() == message, "a message came back changed"
        await socket.send(["a", "b", "ä" * 70_000])
        assert await socket.recv() == "ab" + "ä" * 70_000, "fragments came back changed"
        await asyncio.wait_for(await socket.ping(b"are you there?"), 5)
        for _ in range(1000):
            await socket.send("many at once")
        for _ in range(1000):
            assert await socket.recv() == "many at once"
        await socket.close(4000, "done")
        assert socket.close_code == 4000, f"the close was answered with {socket.close_code}"


def frame(opcode, payload=b"", final=True, mask=b"\x01\x02\x03\x04", reserved=0, size=None):
    length = len(payload) if size is None else size
    first = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    bit = 0x80 if mask else 0
    if length < 126:
        head = bytes([bit | length])
    elif length < 65_536:
        head = bytes([bit | 126]) + struct.pack(">H", length)
    else:
        head = bytes([bit | 127]) + struct.pack(">Q", length)
    if mask:
        payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
    return first + head + (mask or b"") + payload


async def opened(extra=b""):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    key = base64.b64encode(b"0123456789abcdef")
    writer.write(b"GET /echo HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                 b"Sec-WebSocket-Key: " + key + b"\r\n\r\n" + extra)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 "), head
    return reader, writer


async def closes_with(code, *frames):
    """The server answers the frames with a close frame of this code, and ends the connection."""
    reader, writer = await opened()
    for bytes in frames:
        writer.write(bytes)
    said = await asyncio.wait_for(reader.read(), 5)
    assert said[:1] == b"\x88", f"{frames}: {said}"
    got = struct.unpack(">H", said[2:4])[0] if said[1] >= 2 else None
    assert got == code, f"{frames[0][:20]}: closed with {got}, not {code}"
    writer.close()


async def breaches():
    text, binary, close, ping = 1, 2, 8, 9
    await closes_with(1002, frame(text, b"hi", mask=None))
    await closes_with(1002, frame(text, b"hi", reserved=4))
    await closes_with(1002, frame(3, b"hi"))
    await closes_with(1002, frame(11, b"hi"))
    await closes_with(1002, frame(ping, b"x" * 126))
    await closes_with(1002, frame(ping, final=False))
    await closes_with(1002, frame(0, b"hi"))
    await closes_with(1002, frame(text, b"a", final=False), frame(text, b"b"))
    await closes_with(1002, b"\x81\xfe\x00\x05" + b"\0" * 9)
    await closes_with(1002, b"\x82\xff" + struct.pack(">Q", 5) + b"\0" * 9)
    await closes_with(1002, frame(close, b"\x03"))
    await closes_with(1007, frame(text, b"\xff"))
    await closes_with(1007, frame(text, b"\xe2\x82", final=False), frame(0, b"a"))
    await closes_with(1007, frame(text, b"\xed\xa0\x80"))
    # At the byte that is wrong: neither the message nor the frame is complete.
    await closes_with(1007, frame(text, b"\xce\xba\xed\xa0", final=False))
    await closes_with(1007, frame(text, b"\xce\xba\xf4\x90" + b"x" * 100)[:10])
    await closes_with(1007, frame(text, b"\xf0", final=False), frame(0, b"\x80" + b"x" * 100)[:7])
    await closes_with(1007, frame(close, b"\x03\xe8\xff"))
    await closes_with(1009, frame(binary, size=1 << 21))
    await closes_with(1009, frame(binary, size=1 << 63))
    await closes_with(1009, frame(binary, b"x" * 700_000, final=False), frame(0, b"x" * 700_000))
    for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000):
        await closes_with(1002, frame(close, struct.pack(">H", code)))
    for code in (1000, 1001, 1003, 1007, 1011, 3000, 4999):
        await closes_with(code, frame(close, struct.pack(">H", code) + b"why"))
    await closes_with(None, frame(close))


async def between_frames():
    # Frames that come with the handshake, a ping within a message, and bytes one by one.
    reader, writer = await opened(frame(1, b"early"))
    assert await reader.readexactly(7) == b"\x81\x05early"
    writer.write(frame(1, b"a", final=False) + frame(9, b"!") + frame(0, b"b"))
    assert await reader.readexactly(3 + 4) == b"\x8a\x01!\x81\x02ab"
    for byte in frame(1, b"slowly"):
        writer.write(bytes([byte]))
        await writer.drain()
    assert await reader.readexactly(8) == b"\x81\x06slowly"
    writer.close()


async def handshakes():
    async def answer(fields, method=b"GET"):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(method + b" /echo HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n")
        line = await reader.readline()
        writer.close()
        return int(line.split()[1])

    ask = b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    key = b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
    assert await answer(ask + key + b"Sec-WebSocket-Version: 13\r\n") == 101
    assert await answer(ask + key + b"Sec-WebSocket-Version: 8\r\n") == 426
    assert await answer(ask + key) == 426
    assert await answer(ask + b"Sec-WebSocket-Version: 13\r\n") == 400
    assert await answer(ask + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2hvcnQ=\r\n") == 400
    assert await answer(b"Upgrade: websocket\r\n" + key + b"Sec-WebSocket-Version: 13\r\n") == 426
    assert await answer(b"") == 426


async def main():
    for part in (echoes, breaches, between_frames, handshakes):
        await part()
    print("WebServer: WebSockets")


asyncio.run(main())
