#!/usr/bin/env python3
"""Members of a chat that come by HAProxy: some stay and connect again when their connection ends, others come, go, stall and
reset. Processes of the chat are killed meanwhile, and its Redis. In the end each acknowledged message has reached every
member that stayed, once, and in order per sender.
usage: chat-load.py PORT WEB-PORT REDIS-PORT CONTROL MEMBERS SECONDS KILL-EVERY REDIS-KILLS"""

import asyncio
import collections
import os
import random
import re
import signal
import socket
import struct
import sys
import time
import traceback

import redis
import websockets

port, web_port, redis_port = map(int, sys.argv[1:4])
control = sys.argv[4]
members, seconds, kill_every, redis_kills = map(int, sys.argv[5:9])
rooms = [f"room{n}" for n in range(max(1, members // 50))]
end = time.monotonic() + seconds
is_over = False
reconnects = 0


class Lines:
    """A connection of lines."""

    async def open(self):
        self.reader, self.writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 10)
        return self

    async def send(self, line):
        self.writer.write(line.encode() + b"\n")
        await self.writer.drain()

    async def receive(self):
        line = await self.reader.readuntil(b"\n")
        return line[:-1].decode()

    def reset(self):
        sock = self.writer.get_extra_info("socket")
        if sock is not None and sock.fileno() >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self):
        self.writer.close()


class Page:
    """A WebSocket, as the page has it."""

    async def open(self):
        self.socket = await asyncio.wait_for(
            websockets.connect(f"ws://127.0.0.1:{web_port}/chat", compression=None, ping_interval=None), 10)
        return self

    async def send(self, line):
        await self.socket.send(line)

    async def receive(self):
        return await self.socket.recv()

    def reset(self):
        self.socket.transport.abort()
        # It waits for room among the messages that nobody reads any more.
        self.socket.transfer_data_task.cancel()

    async def close(self):
        await asyncio.wait_for(self.socket.close(), 5)


ended = (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError, websockets.WebSocketException)


class Stayer:
    """A member that numbers its messages, and says those again that were not acknowledged."""

    def __init__(self, number):
        self.kind = Page if number % 2 else Lines
        self.name, self.room = f"stayer{number}", rooms[number % len(rooms)]
        self.number, self.last = 0, ""
        self.pending, self.acknowledged, self.heard = collections.deque(), [], []
        self.connection = None
        self.has_spoken, self.is_done = False, asyncio.Event()

    async def live(self):
        global reconnects
        speaking = asyncio.create_task(self.speak())
        while not is_over:
            try:
                connection = await self.kind().open()
                for line in (f"/as secret-{self.name}-{os.getpid()}", f"/name {self.name}", f"/join {self.room} {self.last}".strip()):
                    await connection.send(line)
                sent = 0
                # What is said while these are sent has to wait for its turn.
                while rest := [number for number in self.pending if number > sent]:
                    for sent in rest:
                        await connection.send(f"/say {sent} {self.name} {sent}")
                self.connection = connection
                await self.listen(connection)
            except ended:
                reconnects += 1
                await asyncio.sleep(random.uniform(0.1, 0.5))
            finally:
                self.connection = None
        await speaking

    async def listen(self, connection):
        while not is_over:
            # Each second somebody says something, so a process that hangs is left.
            line = await asyncio.wait_for(connection.receive(), 20)
            if said := re.match(r"(\d+-\d+) (\S+): (.*)", line):
                self.last = said[1]
                self.heard.append((said[1], said[3]))
            elif said := re.match(r"ok (\d+)$", line):
                if self.pending and self.pending[0] == int(said[1]):
                    self.acknowledged.append(self.pending.popleft())
                    self.finish()
            else:
                assert line.startswith("*"), f"{self.name} is told: {line}"
                assert "missing" not in line, f"{self.name} has missed messages"
        await connection.close()

    async def speak(self):
        while time.monotonic() < end:
            await asyncio.sleep(random.uniform(0, 2 * members / 40))
            self.number += 1
            self.pending.append(self.number)
            if self.connection:
                try:
                    await self.connection.send(f"/say {self.number} {self.name} {self.number}")
                except ended:
                    pass
        self.has_spoken = True
        self.finish()

    def finish(self):
        # Not at the end of the time: who waits then has one more message to say.
        if self.has_spoken and not self.pending:
            self.is_done.set()


class Restless:
    """A member without numbers that comes and goes in each way there is. What it hears on a connection has no hole."""

    def __init__(self, number):
        self.kind, self.name, self.heard = Page if number % 2 else Lines, f"restless{number}", []

    async def live(self):
        while time.monotonic() < end:
            room, heard = random.choice(rooms), []
            self.heard.append((room, heard))
            connection = None
            try:
                connection = await self.kind().open()
                await connection.send(f"/name {self.name}")
                await connection.send(f"/join {room}")
                stop = min(end, time.monotonic() + random.uniform(1, 30))
                while (left := stop - time.monotonic()) > 0:
                    try:
                        line = await asyncio.wait_for(connection.receive(), left)
                    except asyncio.TimeoutError:
                        break
                    if not re.match(r"[*!] |ok \d+$", line):
                        heard.append(line)
                    if random.random() < 0.01:
                        await connection.send(random.choice(["/who", "/help", "nonsense " + str(random.random())]))
                if random.random() < 0.5:
                    # It stops to read for a while, and is gone then.
                    await asyncio.sleep(min(random.uniform(0, 10), max(0, end - time.monotonic())))
                if random.random() < 0.3:
                    await connection.send("/quit")
                if random.random() < 0.5:
                    connection.reset()
                else:
                    await connection.close()
            except ended:
                if connection:
                    connection.reset()
                await asyncio.sleep(random.uniform(0.1, 0.5))


def processes():
    """The number of each running process, by its name."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(control)
        sock.sendall(b"status\n")
        sock.shutdown(socket.SHUT_WR)
        text = b"".join(iter(lambda: sock.recv(65_536), b"")).decode()
    return {name: int(number) for name, number in re.findall(r"^(\S+) .*?process (\d+)", text, re.M)}


def state(number):
    status = open(f"/proc/{number}/status").read()
    return len(os.listdir(f"/proc/{number}/fd")), int(re.search(r"VmRSS:\s+(\d+)", status)[1])


async def trouble():
    """Kills a process of the chat at each interval, and Redis at its share of the time."""
    kills = [(n * kill_every, f"chat{n % 2 + 1}") for n in range(1, seconds // kill_every + 1) if n * kill_every <= seconds - kill_every / 2]
    kills += [((n + 1) * seconds / (redis_kills + 1) + kill_every / 3, "redis") for n in range(redis_kills)]
    start = time.monotonic()
    for when, name in sorted(kills):
        await asyncio.sleep(max(0, start + when - time.monotonic()))
        if number := processes().get(name):
            os.kill(number, signal.SIGKILL)
    return collections.Counter("redis" if name == "redis" else "chat" for _, name in kills)


def log():
    """The messages in Redis in their order, without those that came twice: by room, with their numbers there."""
    last, said, twice = {}, collections.defaultdict(list), 0
    for number, fields in redis.Redis("127.0.0.1", redis_port).xrange("chat:messages"):
        sender, count = fields[b"from"], int(fields[b"number"])
        if count <= last.get(sender, 0):
            twice += 1
            continue
        last[sender] = count
        said[fields[b"room"].decode()].append((number.decode(), fields[b"name"].decode(), fields[b"text"].decode()))
    return said, twice


def check(stayers, restless):
    said, twice = log()
    acknowledged = 0
    for room in rooms:
        here = [stayer for stayer in stayers if stayer.room == room]
        lines = [(number, text) for number, _, text in said[room]]
        known = set(text for _, text in lines)
        for stayer in here:
            acknowledged += len(stayer.acknowledged)
            assert stayer.acknowledged == list(range(1, stayer.number + 1)), f"{stayer.name}: not all was acknowledged"
            lost = [n for n in stayer.acknowledged if f"{stayer.name} {n}" not in known]
            assert not lost, f"{stayer.name}: acknowledged and not in the log: {lost}"
            # It has come when the room was empty, or not long after.
            assert stayer.heard, f"{stayer.name} has heard nothing"
            first = lines.index(stayer.heard[0])
            assert first < 200, f"{stayer.name} has heard nothing before message {first}"
            assert stayer.heard == lines[first:], \
                f"{stayer.name} has heard {len(stayer.heard)} messages, not the {len(lines) - first} of the log"
            for other in here:
                numbers = [int(text.split()[1]) for _, text in stayer.heard if text.startswith(other.name + " ")]
                assert numbers == sorted(set(numbers)), f"{stayer.name} has heard {other.name} in disorder"
    # Who is in no room long hears all that is said meanwhile, in the order of the log.
    connections = 0
    texts = {room: [f"{name}: {text}" for _, name, text in said[room]] for room in rooms}
    places = {room: {line: place for place, line in enumerate(texts[room])} for room in rooms}
    for member in restless:
        for room, heard in member.heard:
            if heard:
                connections += 1
                first = places[room][heard[0]]
                assert heard == texts[room][first:first + len(heard)], f"{member.name} has heard with a hole in {room}"
    return acknowledged, twice, connections


async def main():
    global is_over
    names = [name for name in processes() if name.startswith("chat")]
    before = {name: state(processes()[name]) for name in names}
    stayers = [Stayer(n) for n in range(members)]
    restless = [Restless(n) for n in range(members)]
    tasks = [asyncio.create_task(member.live()) for member in stayers + restless]
    kills = await asyncio.create_task(trouble())

    async def check_tasks():
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()

    failing = asyncio.create_task(check_tasks())
    settled = asyncio.gather(*(stayer.is_done.wait() for stayer in stayers))
    await asyncio.wait([failing, settled], timeout=kill_every + 60, return_when=asyncio.FIRST_COMPLETED)
    if failing.done() and failing.exception():
        # The others would not end by themselves.
        traceback.print_exception(failing.exception())
        sys.stderr.flush()
        os._exit(1)
    waiting = [f"{stayer.name} for {list(stayer.pending)[:3]}" for stayer in stayers if not stayer.is_done.is_set()]
    assert settled.done(), f"{len(waiting)} members wait for acknowledgements: {waiting[:5]}"
    # What was acknowledged last is on its way; who has just lost its connection comes again.
    said, _ = log()
    for _ in range(300):
        if all(stayer.heard and stayer.heard[-1][0] == said[stayer.room][-1][0] for stayer in stayers):
            break
        await asyncio.sleep(0.1)
    is_over = True
    for stayer in stayers:
        if stayer.connection:
            stayer.connection.reset()
    await asyncio.wait_for(failing, 60)
    acknowledged, twice, connections = check(stayers, restless)
    print(f"{acknowledged} messages acknowledged, each heard once by all who stayed; {twice} came twice; "
          f"{reconnects} reconnects, {connections} connections of the restless, killed: {dict(kills)}")
    # Everybody has left.
    for _ in range(300):
        after = {name: state(processes()[name]) for name in names}
        if all(after[name][0] <= before[name][0] for name in names):
            break
        await asyncio.sleep(0.1)
    for name in names:
        print(f"{name}: descriptors {before[name][0]} to {after[name][0]}, memory {before[name][1]} to {after[name][1]} kB")
        assert after[name][0] <= before[name][0], f"{name} has descriptors left"
        assert after[name][1] <= before[name][1] + 32_768, f"{name} has memory left"


asyncio.run(main())
