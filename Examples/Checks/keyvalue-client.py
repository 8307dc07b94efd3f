#!/usr/bin/env python3
"""Uses KeyValueServer by the client of Python that is on the path.

usage: keyvalue-client.py HOST PORT [VERSION]    the version of the protocol, that of the client unless given"""
import sys
import threading
import redis

options = {"protocol": int(sys.argv[3])} if len(sys.argv) > 3 else {}


def connect(**more):
    return redis.Redis(sys.argv[1], int(sys.argv[2]), **options, **more)


client = connect(client_name="python")
assert client.set("a", b"\x00\r\n\xff") and client.get("a") == b"\x00\r\n\xff"
assert client.set("once", 1, nx=True, ex=100) is True and client.set("once", 2, nx=True) is None
assert 0 < client.ttl("once") <= 100 and client.pttl("a") == -1 and client.ttl("none") == -2
assert client.incr("n", 5) == 5 and client.decr("n") == 4
with client.pipeline(transaction=False) as pipe:
    for number in range(1000):
        pipe.set(f"key{number}", number)
    assert pipe.execute() == [True] * 1000
assert client.mget("key0", "none", "key999") == [b"0", None, b"999"]
assert len(set(client.scan_iter("key*", count=17))) == 1000
assert client.delete(*[f"key{n}" for n in range(1000)]) == 1000
assert client.info()["redis_version"].startswith("7.0.") and client.client_getname() in ("python", b"python")
client.delete("shared")
large = b"x" * 5_000_000
assert client.set("large", large) and client.get("large") == large
try:
    client.execute_command("NONSENSE", "a")
    raise AssertionError("accepts nonsense")
except redis.ResponseError as error:
    assert "unknown command" in str(error), error
heard = client.pubsub(ignore_subscribe_messages=True)
heard.subscribe("news")
heard.psubscribe("n*")
heard.get_message(timeout=1), heard.get_message(timeout=1)
assert client.publish("news", "hi") == 2
kinds = [heard.get_message(timeout=5)["type"] for _ in range(2)]
assert sorted(kinds) == ["message", "pmessage"], kinds
counts = []


def count():
    mine = connect()
    counts.extend(mine.incr("shared") for _ in range(500))


threads = [threading.Thread(target=count) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(counts) == list(range(1, 4001))
