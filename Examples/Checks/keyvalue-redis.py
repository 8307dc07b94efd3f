#!/usr/bin/env python3
"""Sends the same commands to KeyValueServer and to a Redis of its own, and compares the answers: each command that
KeyValueServer has, at random, in both versions of the protocol, in turn or all at once.

usage: keyvalue-redis.py HOST PORT [COUNT [SEED]]    COUNT commands, 20,000 unless given"""
import random
import shutil
import socket
import subprocess
import sys
import tempfile

host, port = sys.argv[1], int(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
print(f"beside Redis, seed {seed}")


class Client:
    """One connection, which reads answers of both versions."""

    def __init__(self, family, address):
        self.socket = socket.socket(family)
        self.socket.settimeout(10)
        self.socket.connect(address)
        self.file = self.socket.makefile("rb")

    def send(self, words):
        self.socket.sendall(encode(words))

    def read(self):
        line = self.file.readline()
        assert line.endswith(b"\r\n"), f"it has ended behind {line}"
        kind, rest = line[:1], line[1:-2]
        if kind in b"$=":
            if rest == b"-1":
                return (kind, None)
            return (kind, self.file.read(int(rest) + 2)[:-2])
        if kind in b"*~>%":
            number = int(rest) * (2 if kind == b"%" else 1)
            return (kind, [self.read() for _ in range(number)])
        return (kind, rest)

    def answers(self, words, mark):
        """What is answered to a command, up to the answer to a PING behind it."""
        self.socket.sendall(encode(words) + encode([b"PING", mark]))
        found = []
        while True:
            answer = self.read()
            if answer in ((b"$", mark), (b"*", [(b"$", b"pong"), (b"$", mark)])):
                return found
            found.append(answer)


def encode(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def pattern():
    pieces = [b"*", b"?", b"[ab]", b"[^a]", b"[a-c]", b"[c-a]", b"\\*", b"\\", b"[", b"]", b"[]", b"[^]", b"[\\]a]", b"[\\a-c]",
              b"[a-", b"a", b"b", b"c", b"-", b"**", b"^"]
    return b"".join(random.choices(pieces, k=random.randrange(1, 6)))


def command():
    # None is empty: by "**" Redis does not find that.
    key = lambda: random.choice([b"a", b"b", b"ab", b"abc", b"c*", b"[", b"-", b"\\", b"^", b"]a"])
    number = lambda: random.choice([b"0", b"1", b"-1", b"10", b"9223372036854775807", b"-9223372036854775808", b"1.5", b"x", b" 1",
                                    b"007", b"99999999999999999999"])
    value = lambda: random.choice([number(), b"", b"text", b"\0\r\n\xff", b"v" * random.randrange(300)])
    time = lambda: random.choice([b"100000", b"200000", b"0", b"-1", b"x", b"9223372036854775807", b""])
    some = lambda make: [make() for _ in range(random.randrange(1, 4))]
    option = lambda *options: [word for word in options if random.random() < 0.4]
    case = lambda word: word.lower() if random.random() < 0.1 else word
    words = random.choice([
        lambda: [b"GET", key()], lambda: [b"STRLEN", key()], lambda: [b"GETDEL", key()], lambda: [b"TYPE", key()],
        lambda: [b"SET", key(), value()],
        lambda: [b"SET", key(), value(), *option(b"NX", b"XX", b"GET", b"KEEPTTL"), *random.choice([[], [b"EX", time()], [b"PX", time()]])],
        lambda: [b"SETNX", key(), value()], lambda: [b"GETSET", key(), value()], lambda: [b"APPEND", key(), value()],
        lambda: [b"MGET", *some(key)], lambda: [b"MSET", *sum(([key(), value()] for _ in range(random.randrange(1, 4))), [])],
        lambda: [b"INCR", key()], lambda: [b"DECR", key()], lambda: [b"INCRBY", key(), number()],
        lambda: [b"DECRBY", key(), number()], lambda: [b"DEL", *some(key)], lambda: [b"EXISTS", *some(key)],
        lambda: [b"KEYS", pattern()], lambda: [b"SCAN", b"0", b"COUNT", b"1000", *random.choice([[], [b"MATCH", pattern()]])],
        lambda: [b"DBSIZE"], lambda: [b"FLUSHALL", *option(b"SYNC")], lambda: [b"FLUSHDB"],
        lambda: [random.choice([b"EXPIRE", b"PEXPIRE"]), key(), time(), *option(b"NX", b"XX", b"GT", b"LT")],
        lambda: [random.choice([b"EXPIREAT", b"PEXPIREAT"]), key(), random.choice([b"1", b"99999999999", b"x"])],
        lambda: [b"PERSIST", key()], lambda: [b"TTL", key()],
        lambda: [b"PING", *some(value)], lambda: [b"ECHO", *some(value)], lambda: [b"SELECT", random.choice([b"0", b"x"])],
        lambda: [b"SUBSCRIBE", *some(key)], lambda: [b"PSUBSCRIBE", pattern()],
        lambda: [b"UNSUBSCRIBE", key()], lambda: [b"PUNSUBSCRIBE", pattern()], lambda: [b"PUBLISH", key(), value()],
        lambda: [b"UNSUBSCRIBE"], lambda: [b"PUNSUBSCRIBE"],
        lambda: [b"CLIENT", random.choice([b"SETNAME", b"GETNAME", b"NONE", b"ID"]), *option(b"name", b"a name")],
        lambda: [b"CONFIG", b"GET", *random.choice([[b"save"], [b"none"], [b"maxmemory-policy", b"none"], []])],
        lambda: [b"RESET"], lambda: [b"HELLO"], lambda: [b"HELLO", random.choice([b"2", b"3", b"4", b"x"])],
        lambda: [b"HELLO", b"3", *option(b"SETNAME"), *option(b"me", b"a me"), *option(b"AUTH", b"default", b"password")],
        lambda: [b"NONSENSE", *some(value)], lambda: [b"COMMAND", b"NONE"], lambda: [b"INFO", b"server"],
    ])()
    if random.random() < 0.02:
        words = words[:-1] or words
    return [case(words[0]), *words[1:]]


def comparable(words, answers):
    """The answers without what may differ: numbers of clients and versions, and the order of keys."""
    name = words[0].upper()

    def plain(answer):
        kind, what = answer
        return (kind, [plain(part) for part in what]) if isinstance(what, list) else answer

    answers = [plain(answer) for answer in answers]
    failed = len(answers) == 1 and answers[0][0] == b"-"
    if failed:
        return answers
    # Which commands there are, and in how many words they are described, is not the same.
    if words == [words[0]] and name == b"COMMAND":
        return [kind for kind, what in answers]
    if name == b"KEYS":
        return [(kind, sorted(what)) for kind, what in answers]
    if name == b"SCAN":
        return [(kind, [what[0], (what[1][0], sorted(what[1][1]))]) for kind, what in answers]
    if name == b"HELLO":
        return [(kind, [part for part in what[:2] + what[4:6] + what[8:]]) for kind, what in answers]
    if name in (b"INFO", b"CLIENT"):
        return [kind for kind, what in answers] if words[1:2] != [b"GETNAME"] else answers
    if name == b"TTL":
        return [(kind, abs(int(what)) // 10) for kind, what in answers]
    if name in (b"UNSUBSCRIBE", b"PUNSUBSCRIBE") and len(words) == 1:
        return sorted(str([part for part in what[:2]]) for kind, what in answers)
    # Who listens to several patterns hears of them in any order.
    return sorted(map(str, answers)) if name == b"PUBLISH" else answers


random.seed(seed)
folder = tempfile.mkdtemp()
path = f"{folder}/socket"
redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder],
                         stdout=subprocess.DEVNULL)
try:
    while True:
        try:
            Client(socket.AF_UNIX, path)
            break
        except OSError:
            assert redis.poll() is None, "Redis has ended"
    different = 0
    for round in range(count // 100):
        ours, theirs = Client(socket.AF_INET, (host, port)), Client(socket.AF_UNIX, path)
        for client in (ours, theirs):
            client.answers([b"FLUSHALL"], b"ready")
        history = []
        for step in range(100):
            words, mark = command(), b"mark %d" % step
            history.append(words)
            answers = [client.answers(words, mark) for client in (ours, theirs)]
            mine, expected = (comparable(words, answer) for answer in answers)
            if mine != expected:
                different += 1
                print(f"{words}\n  answers  {mine}\n  Redis    {expected}\n  behind   {history[-6:-1]}")
                break
        if different > 10:
            break
    for greeting in (b"POST / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n"):
        ends = []
        for client in (Client(socket.AF_INET, (host, port)), Client(socket.AF_UNIX, path)):
            client.socket.sendall(greeting + b"SET sent 1\r\n")
            client.socket.settimeout(10)
            try:
                while client.socket.recv(1000):
                    pass
                ends.append("ended")
            except ConnectionResetError:
                ends.append("ended")
            check = Client(client.socket.family, client.socket.getpeername() or path)
            ends.append(check.answers([b"EXISTS", b"sent"], b"mark"))
        if ends[:2] != ends[2:]:
            different += 1
            print(f"{greeting}: {ends}")
finally:
    redis.kill()
    redis.wait()
    shutil.rmtree(folder)
sys.exit(different > 0)
