#!/usr/bin/env python3
"""A member of a chat that does not read, beside two that do. usage: chat-slow.py PORT"""

import socket
import sys
import time

port = int(sys.argv[1])


def member(name, buffer=None):
    sock = socket.socket()
    if buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    sock.settimeout(20)
    sock.connect(("127.0.0.1", port))
    sock.sendall(f"/name {name}\n/join lobby\n".encode())
    return sock


speaker, listener = member("speaker"), member("listener")
deaf = member("deaf", 4096)
spoken, heard = speaker.makefile(), listener.makefile()
while "you are in lobby" not in heard.readline():
    pass
longest = 0
for number in range(3000):
    began = time.monotonic()
    speaker.sendall(f"{number} {'x' * 4000}\n".encode())
    while True:
        line = heard.readline()
        if line.startswith("speaker: "):
            break
    assert line.split()[1] == str(number), line[:50]
    while not spoken.readline().startswith("ok "):
        pass
    longest = max(longest, time.monotonic() - began)
listener.sendall(b"/who\n")
while not (line := heard.readline()).startswith("* in lobby"):
    pass
assert line.strip() == "* in lobby: listener, speaker", line
try:
    while deaf.recv(65_536):
        pass
    raise AssertionError("the member that does not read was not cut off by a reset")
except ConnectionResetError:
    pass
print(f"12 MB beside a member that does not read, each message within {longest * 1000:.0f} ms")
