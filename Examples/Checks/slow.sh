#!/bin/bash
# Two thousand clients that send one byte every ten seconds: with their limits raised they cost active clients little,
# and with the limits as they are at first all of them are cut off, each with a counted reason.
# usage: slow.sh [CLIENTS MILLISECONDS FRAMING-TIMEOUT ROUNDS]
. "$(dirname "$0")/server.sh"

example=EchoServer count=${1:-2000} pause=${2:-10000} timeout=${3:-30} rounds=${4:-5}
clang -O2 -o "$work/hold" Tests/Benchmarks/Tools/hold.c
clang -O2 -o "$work/load" Tests/Benchmarks/Tools/Load/*.c -lssl -lcrypto
ulimit -n "$(ulimit -Hn)"
[ "$(ulimit -n)" -gt $((count + 64)) ] || fail "may have only $(ulimit -n) descriptors; more are needed for $count"

# The 99th percentile of what twenty active clients wait for an answer.
p99() {
    "$work/load" --port "$port" --connections 20 --round-trips 100000 |
        sed 's/.*"p99Microseconds":\([0-9]*\).*/\1/'
}

hold() {
    coproc hold { "$work/hold" "$port" "$count" "$pause"; }
    clients=$hold_PID
    from_clients && [ "$line" = open ] || fail "does not take $count connections"
}

from_clients() { read -r -t 60 -u "${hold[0]}" line; }

end_clients() {
    exec {hold[1]}>&-
    wait "$clients" || fail "its clients end with status $?"
}

if ((rounds > 0)); then
    start --idle-timeout 3600 --framing-timeout 3600 --backlog 4096
    for ((round = 0; round < rounds; round++)); do
        p99 >>"$work/alone"
        hold
        p99 >>"$work/among"
        echo close >&"${hold[1]}"
        until from_clients && [ "$line" = closed ]; do
            [ "$line" = "$count left" ] || fail "has lost slow clients: $line"
        done
        end_clients
    done
    median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }
    alone=$(median "$work/alone") among=$(median "$work/among")
    echo "$example: the 99th percentile of an answer is $alone microseconds, and $among among $count slow clients"
    ((among * 2 < alone * 3)) || fail "slow clients make the others wait"
    stop -TERM 10
fi

start --lines --framing-timeout "$timeout" --backlog 4096
hold
end=$((SECONDS + timeout + 60))
until from_clients && [ "$line" = "0 left" ]; do
    ((SECONDS < end)) || fail "has slow clients after $((timeout + 60)) seconds: $line"
done
end_clients
expect_report "closed: framingTimeout $count\$" ||
    fail "does not count $count connections by their reason: $(grep closed: "$work/out")"
echo "$example: cut off $count clients that did not complete their lines"
stop -TERM 10
