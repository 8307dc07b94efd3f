#!/usr/bin/env python3
"""Kills a KeyValueServer at random moments of a load, starts it again, and compares what is there with what was
acknowledged.

usage: keyvalue-kills.py COUNT PROGRAM FILE PROCESS PORT    the server with that process and port runs already, and its file
                                                            is written before it answers"""
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

count, program, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
process, port = int(sys.argv[4]), int(sys.argv[5])
writers, keys, depth = 8, 20, 5
# Of each key, the last value that was sent, and the last that was acknowledged.
sent, acknowledged = {}, {}


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def write(writer, first):
    """Sends several commands at a time, until the server is gone."""
    try:
        with connect() as connection, connection.makefile("rb") as answers:
            number = first
            while True:
                batch = []
                for _ in range(depth):
                    number += 1
                    key = f"k{writer}-{number % keys}"
                    sent[key] = number
                    batch.append((key, number))
                connection.sendall(b"".join(f"SET {key} {value}\r\n".encode() for key, value in batch))
                for key, value in batch:
                    if answers.readline() != b"+OK\r\n":
                        return
                    acknowledged[key] = value
    except OSError:
        pass


def check():
    with connect() as connection, connection.makefile("rb") as answers:
        for key in sorted(sent):
            connection.sendall(f"GET {key}\r\n".encode())
            length = answers.readline()
            value = 0 if length == b"$-1\r\n" else int(answers.readline())
            if not acknowledged.get(key, 0) <= value <= sent[key]:
                sys.exit(f"{key} is {value}, not {acknowledged.get(key, 0)} to {sent[key]}")
            sent[key] = value
            if value:
                acknowledged[key] = value


server = None
total = 0
for turn in range(count):
    threads = [threading.Thread(target=write, args=(writer, turn * 1_000_000)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    time.sleep(random.uniform(0.02, 0.4))
    os.kill(process, signal.SIGKILL)
    for thread in threads:
        thread.join()
    if server:
        server.wait()
    server = subprocess.Popen([program, "--port", "0", "--append-file", path, "--sync", "always", "--rewrite-size", "20000"],
                              stdout=subprocess.PIPE, text=True)
    process = server.pid
    for line in server.stdout:
        if line.startswith("listening on "):
            port = int(line.rsplit(":", 1)[1])
            break
    else:
        sys.exit("the server does not start again")
    total += len(acknowledged)
    check()
server.terminate()
server.wait()
if not total:
    sys.exit("nothing was acknowledged")
print(f"{count} kills, {len(acknowledged)} keys, nothing lost")
