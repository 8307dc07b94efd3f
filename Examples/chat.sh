#!/bin/bash
# Starts a whole chat on this machine, until you press Ctrl-C: Redis, several processes of ChatServer, and HAProxy before
# them. The example Supervisor keeps them running, so you may kill each of them and go on to chat. All files are in a
# temporary directory, which is removed at the end.
# usage: Examples/chat.sh [PROCESSES]    how many processes of ChatServer, 2 unless given
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PATH:/usr/sbin"

count=${1:-2}
if ! [[ $count =~ ^[1-9][0-9]?$ ]] || [ $# -gt 1 ]; then
    echo "chat.sh: ${*} is no number of processes; give one from 1 to 99" >&2
    exit 64
fi
for tool in redis-server haproxy python3; do
    command -v "$tool" >/dev/null && continue
    echo "chat.sh: $tool is missing; on Debian: sudo apt-get install redis-server haproxy python3" >&2
    exit 69
done
bin=$PWD/Examples/.build/release
for product in ChatServer Supervisor; do
    [ -x "$bin/$product" ] || swift build -c release --package-path Examples -Xswiftc -use-ld=lld --product $product
done

data=$(mktemp -d)
ulimit -n "$(ulimit -Hn)"
supervisor=
end() {
    if [ -n "$supervisor" ]; then
        kill "$supervisor" 2>/dev/null || true
        wait "$supervisor" || true
    fi
    rm -rf "$data"
}
trap end EXIT
trap exit INT TERM HUP

# Ports that were free a moment ago: the programs have to know those of each other.
mapfile -t ports < <(python3 -c '
import socket, sys
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(each.getsockname()[1] for each in sockets), sep="\n")' $((3 + 2 * count)))
redis=${ports[0]} lines=${ports[1]} web=${ports[2]}

# Each process has a port for lines and one for the page.
servers() {
    local number
    for number in $(seq "$count"); do echo "    server chat$number 127.0.0.1:${ports[2 * number + $1]}"; done
}
cat >"$data/haproxy.cfg" <<CONFIGURATION
defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout check 2s
    option clitcpka
    option redispatch
    balance leastconn
    default-server send-proxy-v2 check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
listen lines
    bind 127.0.0.1:$lines
$(servers 1)
listen web
    bind 127.0.0.1:$web
    option httpchk GET /health
    default-server check-send-proxy
$(servers 2)
CONFIGURATION
{
    # A message is acknowledged when it is on the disk.
    echo "redis $(command -v redis-server) --bind 127.0.0.1 --port $redis --dir $data --appendonly yes --appendfsync always"
    echo "haproxy $(command -v haproxy) -db -f $data/haproxy.cfg"
    for number in $(seq "$count"); do
        echo "chat$number $bin/ChatServer --redis 127.0.0.1:$redis --proxy --port ${ports[2 * number + 1]}" \
            "--web-port ${ports[2 * number + 2]}"
    done
} >"$data/programs"

"$bin/Supervisor" "$data/programs" --log "$data/log" --control "$data/control" &
supervisor=$!
greets() { exec 3<>"/dev/tcp/127.0.0.1/$lines" && read -t 1 -r -u 3 && [[ $REPLY == "* hello"* ]]; }
for _ in {1..100}; do
    (greets) 2>/dev/null && break
    if ! kill -0 "$supervisor" 2>/dev/null; then
        wait "$supervisor"
        exit
    fi
    sleep 0.2
done
(greets) 2>/dev/null || { echo "chat.sh: the chat does not answer; its log says:" >&2 && tail "$data/log" >&2 && exit 70; }

cat <<TEXT
listening on 127.0.0.1:$lines
look at http://127.0.0.1:$web/
To try it, run in several terminals, and type /join lobby, and then what you like:
  nc 127.0.0.1 $lines
Kill a process or Redis with kill -9, and go on: the page connects again and loses nothing. What happens is told by
  tail -f $data/log
  echo status | nc -N -U $data/control
What was said is in Redis:
  redis-cli -p $redis xrange chat:messages - +
Ctrl-C ends all of it.
TEXT
wait "$supervisor"
