"""As Sources/ProcessStarts: how long it takes to start /bin/true, and to hear of its end.
usage: processes.py COUNT MEGABYTES"""
import subprocess
import sys
import time

count, megabytes = map(int, sys.argv[1:])
ballast = bytearray(b"\1") * (megabytes << 20)
for _ in range(count):
    start = time.perf_counter()
    child = subprocess.Popen(["/bin/true"], stdin=subprocess.DEVNULL)
    print("blocked", (time.perf_counter() - start) * 1e6)
    child.wait()
    print("ended", (time.perf_counter() - start) * 1e6)
