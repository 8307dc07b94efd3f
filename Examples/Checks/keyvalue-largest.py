#!/usr/bin/env python3
"""Sends KeyValueServer and a Redis of its own each command at its largest: many words, long ones, the same again and
again. Fails where KeyValueServer takes more than four times as long as Redis, or lets another client wait for longer
than Redis does and than a command takes that is cut into words alone.

usage: keyvalue-largest.py HOST PORT"""
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

N = 100_000
KEYS = [b"key%d" % number for number in range(N)]
LONG = b"x" * 20_000_000
# What is not measured: another client, the network, the first use of memory.
GRACE = 0.1


def encode(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def pipelined(commands):
    return b"".join(encode(*command) for command in commands)


FILL = encode(b"MSET", *[word for key in KEYS for word in (key, b"1")])
NAMES = encode(b"SUBSCRIBE", *KEYS)
# What has to be there before, and what is measured.
CASES = {
    "MSET of many": (b"", FILL),
    "MSET of one, again and again": (b"", encode(b"MSET", *[b"key", b"1"] * N)),
    "MGET of many": (FILL, encode(b"MGET", *KEYS)),
    "MGET of none": (b"", encode(b"MGET", *KEYS)),
    "MGET of a large one, again and again": (encode(b"SET", b"key", LONG[:200_000]), encode(b"MGET", *[b"key"] * 100)),
    "EXISTS of one, again and again": (FILL, encode(b"EXISTS", *[b"key1"] * N)),
    "DEL of many": (FILL, encode(b"DEL", *KEYS)),
    "DEL backwards": (FILL, encode(b"DEL", *reversed(KEYS))),
    "SET of a long value": (b"", encode(b"SET", b"key", LONG)),
    "SET of a long key": (b"", encode(b"SET", LONG, b"1")),
    "GET of a long value": (encode(b"SET", b"key", LONG), encode(b"GET", b"key")),
    "GETSET of a long value": (encode(b"SET", b"key", LONG), encode(b"GETSET", b"key", LONG)),
    "GETDEL of a long value": (encode(b"SET", b"key", LONG), encode(b"GETDEL", b"key")),
    "SET with options, again and again": (b"", encode(b"SET", b"key", b"1", *[b"GET"] * N)),
    "APPEND of a little, many times": (b"", pipelined([(b"APPEND", b"key", b"x")] * N)),
    "APPEND of much, many times": (b"", pipelined([(b"APPEND", b"key", LONG[:100_000])] * 100)),
    "INCR, many times": (b"", pipelined([(b"INCR", b"key")] * N)),
    "STRLEN of a long value, many times": (encode(b"SET", b"key", LONG), pipelined([(b"STRLEN", b"key")] * N)),
    "ends in the past": (FILL, pipelined([(b"PEXPIREAT", key, b"%d" % (1000 + number)) for number, key in enumerate(KEYS)])),
    "ends soon, each another": (FILL, pipelined(
        [(b"PEXPIRE", key, b"%d" % (100 + number % 50)) for number, key in enumerate(KEYS)]) + encode(b"DBSIZE")),
    "ends nearer each time": (encode(b"SET", b"key", b"1"), pipelined(
        [(b"PEXPIRE", b"key", b"%d" % (10**9 - number)) for number in range(N)])),
    "PERSIST and EXPIRE in turn": (encode(b"SET", b"key", b"1"), pipelined(
        [(b"PERSIST", b"key"), (b"EXPIRE", b"key", b"1000")] * (N // 2))),
    "KEYS of all": (FILL, encode(b"KEYS", b"*")),
    "KEYS with many stars": (FILL, encode(b"KEYS", b"*k*e*y*1*2*3*" * 20)),
    "KEYS with stars in one long key": (
        encode(b"SET", b"a" * 5000, b"1"), encode(b"KEYS", b"*a" * 1000 + b"b")),
    "KEYS with a large set": (FILL, encode(b"KEYS", b"[" + b"k" * 30_000 + b"]ey1*")),
    "SCAN of all": (FILL, encode(b"SCAN", b"0", b"COUNT", b"1000000")),
    "SCAN with patterns, again and again": (FILL, encode(b"SCAN", b"0", *[b"MATCH", b"key1*"] * 10_000)),
    "SCAN of what was removed": (FILL + encode(b"DEL", *KEYS[1:]), pipelined([(b"SCAN", b"0")] * 1000)),
    "FLUSHALL": (FILL, encode(b"FLUSHALL")),
    "DBSIZE, many times": (b"", pipelined([(b"DBSIZE",)] * N)),
    "TYPE, many times": (FILL, pipelined([(b"TYPE", key) for key in KEYS])),
    "SUBSCRIBE to many": (b"", NAMES),
    "SUBSCRIBE to one, again and again": (b"", encode(b"SUBSCRIBE", *[b"channel"] * N)),
    "UNSUBSCRIBE from all": (NAMES, encode(b"UNSUBSCRIBE")),
    "UNSUBSCRIBE from none": (b"", encode(b"UNSUBSCRIBE", *KEYS)),
    "PSUBSCRIBE to many": (b"", encode(b"PSUBSCRIBE", *KEYS[:20_000])),
    "RESET of many": (NAMES, encode(b"RESET")),
    "PUBLISH, many times": (b"", pipelined([(b"PUBLISH", b"channel", b"message")] * N)),
    "ECHO of much": (b"", encode(b"ECHO", LONG)),
    "PING of much": (b"", encode(b"PING", LONG)),
    "PING, many times": (b"", pipelined([(b"PING",)] * N)),
    "lines": (b"", b"PING\r\n" * N),
    "a long line": (b"", b"ECHO " + b"x" * 60_000 + b"\r\n"),
    "a line of quotes": (b"", b"MGET " + b'"\\x41" ' * 9000 + b"\r\n"),
    "a command that is none": (b"", encode(b"NONE", *KEYS)),
    "no words": (b"", b"*0\r\n" * N + b"PING\r\n"),
    "empty words": (b"", encode(b"EXISTS", *[b""] * N)),
    "CONFIG GET of many": (b"", encode(b"CONFIG", b"GET", *[b"max*"] * 2000)),
    "COMMAND, many times": (b"", pipelined([(b"COMMAND", b"COUNT")] * 1000)),
    "HELLO, many times": (b"", pipelined([(b"HELLO", b"3")] * 10_000)),
    "HELLO with names": (b"", encode(b"HELLO", b"2", *[b"SETNAME", b"name"] * 10_000)),
    "CLIENT SETNAME of a long name": (b"", encode(b"CLIENT", b"SETNAME", LONG)),
    "INFO, many times": (b"", pipelined([(b"INFO", b"everything")] * 100)),
}


class Server:
    def __init__(self, family, address):
        self.family, self.address = family, address

    def connect(self):
        client = socket.socket(self.family)
        client.settimeout(60)
        client.connect(self.address)
        return client

    def run(self, client, data):
        """Sends it, and reads up to the answer to a PING behind it, while the server reads."""
        mark = b"$4\r\ndone\r\n"
        sender = threading.Thread(target=client.sendall, args=[data + encode(b"PING", b"done")])
        sender.start()
        tail = b""
        while not tail.endswith(mark):
            read = client.recv(1 << 20)
            if not read:
                raise AssertionError(f"ends behind {tail!r}")
            tail = (tail + read)[-200:]
        sender.join()

    def measure(self, before, data):
        """The seconds that it takes, and for how long another client waits meanwhile at most."""
        client, other = self.connect(), self.connect()
        self.run(other, encode(b"FLUSHALL"))
        if before:
            self.run(client, before)
        waits, ends = [0.0], threading.Event()

        def wait():
            while not ends.is_set():
                start = time.monotonic()
                other.sendall(b"PING\r\n")
                other.recv(100)
                waits.append(time.monotonic() - start)
                time.sleep(0.001)
        waiter = threading.Thread(target=wait)
        waiter.start()
        start = time.monotonic()
        self.run(client, data)
        taken = time.monotonic() - start
        client.close()
        # What a client leaves takes time, too.
        time.sleep(0.02)
        ends.set()
        waiter.join()
        other.close()
        return taken, max(waits)


def main():
    work = tempfile.mkdtemp()
    path = f"{work}/redis"
    redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", work],
                             stdout=subprocess.DEVNULL)
    ours, theirs = Server(socket.AF_INET, (sys.argv[1], int(sys.argv[2]))), Server(socket.AF_UNIX, path)
    failed = 0
    try:
        while redis.poll() is None:
            try:
                theirs.connect().close()
                break
            except OSError:
                time.sleep(0.01)
        for name, case in CASES.items():
            rows = []
            # A busy machine makes one of them slow.
            for _ in range(3):
                rows.append((ours.measure(*case), theirs.measure(*case)))
                ratio = [min(row[0][part] for row in rows) / (4 * max(row[1][part] for row in rows) + GRACE)
                         for part in (0, 1)]
                if max(ratio) < 1:
                    break
            (own, own_wait), (other, other_wait) = rows[-1]
            said = f"{name}: {own:.3f} s, another client waits {own_wait:.3f} s; Redis {other:.3f} s and {other_wait:.3f} s"
            if max(ratio) >= 1:
                failed += 1
                print(said)
            elif "-v" in sys.argv:
                print(said)
    finally:
        redis.terminate()
        redis.wait()
        shutil.rmtree(work)
    print(f"{len(CASES)} commands at their largest, {failed} of them slower than Redis allows")
    sys.exit(failed > 0)


main()
