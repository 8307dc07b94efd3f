#!/usr/bin/env python3
"""A log is written and rotated at random, a program that ships its lines is killed and held back at random, and goes on where
its receiver has a whole line: no line is lost, comes twice, or comes out of order.
usage: shipper.py BUILD-DIRECTORY SECONDS [SEED]"""
import glob, os, random, subprocess, sys, tempfile, threading, time

build, seconds = sys.argv[1], float(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
print(f"shipper.py: seed {seed}")
random.seed(seed)
work = tempfile.TemporaryDirectory()
program, log = work.name + "/Ship", work.name + "/log"
flags = lambda *options: subprocess.check_output(["pkg-config", *options, "libuv"], text=True).split()
objects = [file for name in ("Futures", "ByteStreams", "SystemIO", "UVFutures") for file in glob.glob(f"{build}/{name}.build/*.o")]
subprocess.run(
    ["swiftc", "-O", "-swift-version", "6", "-use-ld=lld", "-I", f"{build}/Modules", "-I", "Sources/CLibUV", "-I", "Sources/CFuturesSystem", "-I",
     "Sources/CFuturesRuntime", *flags("--cflags"), "Tests/Programs/Disk/Ship.swift", *objects, "-o", program, *flags("--libs")],
    check=True)

written, end = 0, threading.Event()


def write():
    """Lines with their numbers. A rotation may come within a line: then the writer ends it in the old file."""
    global written
    chance = random.Random(seed + 1)
    file = open(log, "ab", buffering=0)
    kept, rotated = 0, 0
    while not end.is_set():
        for _ in range(chance.choice([1, 10, 1000, 20000])):
            line = f"{written} {'x' * chance.choice([0, 1, 100, 3000])}\n".encode()
            cut = chance.randrange(len(line)) if chance.random() < 0.01 else 0
            if cut:
                file.write(line[:cut])
            written += 1
            if received and chance.random() < 0.002 and time.monotonic() > rotated + 0.02:
                rotated = time.monotonic()
                # As logrotate does: all former files get the next number.
                for number in range(kept, 0, -1):
                    os.rename(f"{log}.{number}", f"{log}.{number + 1}")
                kept += 1
                os.rename(log, log + ".1")
                old, file = file, open(log, "ab", buffering=0)
                old.write(line[cut:])
                old.close()
            else:
                file.write(line[cut:])
        # What has been read for long makes room.
        while kept > 200:
            os.remove(f"{log}.{kept}")
            kept -= 1
        while not end.is_set() and written - received > 40000:
            time.sleep(0.002)
        time.sleep(chance.choice([0, 0, 0.001, 0.05]))


received, place, starts, failures, told = 0, None, 0, [], []
open(log, "w").close()
writer = threading.Thread(target=write)
writer.start()
deadline = time.monotonic() + seconds
while not failures:
    shipper = subprocess.Popen([program, log] + ([place] if place else []), stdout=subprocess.PIPE)
    starts += 1
    limit = time.monotonic() + random.choice([0.05, 0.3, 1, 3])
    kill = threading.Timer(max(0, limit - time.monotonic()), shipper.kill)
    kill.start()
    for line in shipper.stdout:
        if not line.endswith(b"\n"):
            break
        if line.startswith(b"lost"):
            told.append(line.decode().strip())
            continue
        before, (place, text) = place, line.decode().split(" ", 1)
        if text.split(" ")[0] != str(received) or told:
            failures.append(f"line {received} was to come behind {before}, and not {text[:60]!r} at {place}, in start "
                            f"{starts}; {told}")
            break
        received += 1
        if random.random() < 0.0001:
            time.sleep(random.choice([0.01, 0.3]))
        if end.is_set() and received == written:
            break
    kill.cancel()
    shipper.kill()
    if shipper.wait() != -9:
        failures.append(f"the shipper ended with {shipper.returncode}")
    if time.monotonic() > deadline:
        end.set()
        writer.join()
        if received == written:
            break
        if time.monotonic() > deadline + 60:
            failures.append(f"{received} of {written} lines have come a minute after the last was written")
end.set()
writer.join()
for failure in failures:
    print(f"shipper.py: {failure}", file=sys.stderr)
print(f"{received} lines were shipped over {starts} starts")
sys.exit(bool(failures))
