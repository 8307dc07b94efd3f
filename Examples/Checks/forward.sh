#!/bin/bash
# Sends bytes through two forwarders to the echo server and back: TCP, UNIX, TCP, and by way of UNIX and TCP. All bytes
# come back, and the resident memory of each forwarder stays within 16 MiB of what it was at its start. A reset comes through
# as a reset, never as an end.
# usage: forward.sh BYTES    256M and the like
set -euo pipefail
cd "$(dirname "$0")/../.."

size=$(numfmt --from=iec "$1")
bin=Examples/.build/release work=$(mktemp -d)
servers=()
trap 'rm -rf "$work"; kill "${servers[@]}" 2>/dev/null || true' EXIT

fail() {
    echo "PortForwarder: $*" >&2
    exit 1
}

memory() { sed -n "s/^$2:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$1/status"; }
offer() { seq 1000000000000 2>/dev/null | head -c "$size"; }

# Starts a server, and sets `pid` and `port`.
start() {
    local out="$work/out${#servers[@]}" line
    : >"$out"
    "$bin/$@" --port 0 >"$out" 2>&1 &
    pid=$!
    servers+=("$pid")
    line=$(timeout 10 grep -m1 '^listening on ' <(tail -n +1 -f --pid=$pid "$out")) || fail "$1 does not listen: $(cat "$out")"
    port=${line##*:}
}

# usage: through SOCAT-ADDRESS
through() {
    cmp <(offer) <(offer | timeout 3600 socat -t 600 - "$1") || fail "lost or changed bytes by way of $1"
}

start EchoServer --unix "$work/echo"
start PortForwarder "127.0.0.1:$port" --unix "$work/inner"
inner=$pid
start PortForwarder "unix:$work/inner" --unix "$work/outer"
outer=$pid
before=($(memory "$inner" VmRSS) $(memory "$outer" VmRSS))
through "TCP:127.0.0.1:$port"
through "UNIX-CONNECT:$work/outer"
after=($(memory "$inner" VmRSS) $(memory "$outer" VmRSS))
growth=($((after[0] - before[0])) $((after[1] - before[1])))
echo "PortForwarder: grew by ${growth[0]} and ${growth[1]} KiB while twice $size bytes went there and back"
[ "${growth[0]}" -lt 16384 ] && [ "${growth[1]}" -lt 16384 ] || fail "grew by more than 16 MiB"

kill "$outer"
wait "$outer" || fail "ended with status $?"
[ ! -e "$work/outer" ] || fail "left its socket behind"
grep -q "^passed on $((4 * size)) bytes of 2 connections, of which 0 broke$" "$work/out2" || fail "does not say what it did: $(cat "$work/out2")"

# Connects through a forwarder, as a client, to itself, as a server that sends a little and resets the connection.
resets() {
    python3 - "$bin/PortForwarder" <<'END'
import socket, struct, subprocess, sys, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    while True:
        peer = server.accept()[0]
        peer.sendall(b"fourteen bytes")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
threading.Thread(target=serve, daemon=True).start()
target = "127.0.0.1:%d" % server.getsockname()[1]
forwarder = subprocess.Popen([sys.argv[1], target, "--port", "0"], stdout=subprocess.PIPE, text=True)
port = int(forwarder.stdout.readline().rpartition(":")[2])
ends = 0
for _ in range(50):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(10)
        try:
            while client.recv(100):
                pass
            ends += 1
        except ConnectionResetError:
            pass
forwarder.terminate()
said = forwarder.stdout.read()
lines = said.count("ECONNRESET 127.0.0.1:")
is_right = ends == 0 and lines == 1 and "of 50 connections, of which 50 broke" in said
sys.exit(None if is_right else f"{ends} of 50 resets came through as ends, or not one line tells of all; it said: {said}")
END
}
resets || fail "passes a reset on as an end"

# What nobody can listen at is no target.
for target in 127.0.0.1 127.0.0.1:0 127.0.0.1:65536 127.0.0.1:80:90 :80 host_:80:x 127.1:80 unix: "unix:$(printf '%0200d' 0)"; do
    status=0
    timeout 10 "$bin/PortForwarder" "$target" --port 0 >"$work/refused" 2>&1 || status=$?
    [ $status = 1 ] && grep -q target "$work/refused" || fail "took '$target' ($status): $(cat "$work/refused")"
done
! timeout 10 "$bin/PortForwarder" localhost:1 --grace -1 2>"$work/refused" && grep -q 'a grace of -1.0 seconds' "$work/refused" ||
    fail "took a negative grace: $(cat "$work/refused")"
echo "PortForwarder: works"
