#!/usr/bin/env python3
"""Makes KeyValueServer hold as much as clients can: halves of large commands, answers and messages that nobody reads,
subscriptions. Fails if it takes more memory than its limit and what it took at the start, keeps it when they have left,
or lets another client wait.

usage: keyvalue-hostile.py HOST PORT PID LIMIT SECONDS MILLISECONDS
LIMIT is what the server was given. MILLISECONDS is for how much longer another client waits at most, once in a hundred
times, than for a process that does nothing but answer: on a busy machine each waits for a processor."""
import multiprocessing
import random
import socket
import sys
import time

host, port, pid, limit, seconds, most = sys.argv[1], *map(int, sys.argv[2:])
# What memory is kept for later by the allocator, and for the next command.
SPARE = 10_000_000


def encode(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def connect():
    client = socket.create_connection((host, port))
    client.settimeout(0.2)
    return client


def memory():
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def half(size):
    return b"*3\r\n$4\r\nECHO\r\n$1\r\na\r\n$%d\r\n" % (2 * size) + b"x" * size


def many(command):
    return encode(command, *[b"%d.%d" % (random.getrandbits(40), number) for number in range(random.randrange(20_000))])


# None of them changes a key, or is heard by others.
WAYS = [
    lambda: half(random.randrange(limit)), lambda: b"*1000000\r\n" + b"$0\r\n\r\n" * random.randrange(1_000_000),
    lambda: encode(b"ECHO", b"x" * random.randrange(limit // 4)) * 3, lambda: many(b"SUBSCRIBE"),
    lambda: many(b"PSUBSCRIBE"),
    lambda: encode(b"MGET", *[b"no such key"] * random.randrange(200_000)) * 3, lambda: b"COMMAND\r\n" * 1000,
    lambda: encode(b"CLIENT", b"SETNAME", b"x" * random.randrange(limit // 8)), lambda: b"x" * 65_000,
    lambda: encode(b"KEYS", b"*a" * random.randrange(50_000)) * 10,
]


def send(ends):
    """Sends as fast as it can, and reads nothing."""
    clients = []
    while time.monotonic() < ends:
        try:
            clients.append(connect())
            clients[-1].sendall(random.choice(WAYS)())
        except OSError:
            pass
        if len(clients) > 10:
            clients.pop(random.randrange(len(clients))).close()


def answer(end):
    while end.recv(100):
        end.sendall(b"+PONG\r\n")


def wait(client):
    """The milliseconds that an answer takes."""
    sent = time.monotonic()
    client.sendall(b"PING\r\n")
    client.recv(100)
    return 1000 * (time.monotonic() - sent)


def late(waits):
    return sorted(waits)[len(waits) * 99 // 100]


def main():
    start, ends = memory(), time.monotonic() + seconds
    senders = [multiprocessing.Process(target=send, args=[ends]) for _ in range(2)]
    for sender in senders:
        sender.start()
    idle, end = socket.socketpair()
    multiprocessing.Process(target=answer, args=[end], daemon=True).start()
    other, waits, idles, peak = connect(), [], [], 0
    other.settimeout(10)
    while time.monotonic() < ends:
        waits.append(wait(other))
        idles.append(wait(idle))
        peak = max(peak, memory())
        time.sleep(0.005)
    for sender in senders:
        sender.join()
    time.sleep(1)
    rest = memory()
    other.sendall(b"INFO\r\n")
    evicted = next(line for line in other.recv(65_536).decode().splitlines() if line.startswith("evicted_clients:"))
    print(f"another client waits p99 {late(waits):.1f} ms, {max(waits):.1f} ms at most, and for an idle process "
          f"{late(idles):.1f} and {max(idles):.1f} ms; {start >> 20} MiB at the start, "
          f"{peak >> 20} MiB at most with a limit of {limit >> 20} MiB, {rest >> 20} MiB afterwards; {evicted}")
    if peak > start + limit + SPARE or rest > start + limit or late(waits) > most + late(idles):
        sys.exit("KeyValueServer holds too much, or lets another client wait")


main()
