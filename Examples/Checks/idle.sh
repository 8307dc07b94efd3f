#!/bin/bash
# Connections that do nothing, ten thousand unless told otherwise, their clients in another process: what memory each
# takes, how busy the server is with them, whether it still answers, also while all of them close at once, and how long
# a turn lasts then.
# usage: idle.sh [COUNT]
. "$(dirname "$0")/server.sh"

example=EchoServer count=${1:-10000}
clang -O2 -o "$work/hold" Tests/Benchmarks/Tools/hold.c
ulimit -n "$(ulimit -Hn)"
[ "$(ulimit -n)" -gt $((count + 64)) ] || fail "may have only $(ulimit -n) descriptors; more are needed for $count"

# Has the server report into $work/report.
ask() {
    local said
    said=$(wc -l <"$work/out")
    kill -USR1 "$server"
    timeout 20 sed '/^event loop:/q' <(tail -n "+$((said + 1))" -f --pid=$server "$work/out") >"$work/report" ||
        fail "does not report"
}

# The number after some words of the report.
after() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" "$work/report"; }
connections() { sed -n 's/.* \([0-9]*\) active.*/\1/p' "$work/report"; }
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status"; }
processor_nanoseconds() { cut -d ' ' -f 1 "/proc/$server/schedstat"; }
descriptors() { ls "/proc/$server/fd" | wc -l; }
longer() { echo $(($1 > $2 ? $1 : $2)); }
from_clients() {
    read -r -t 60 -u "${hold[0]}" line || fail "its clients: $1"
}

start --measure-turns --backlog 4096
# The second report takes no memory that the first did not.
ask
ask
empty=$(after heap:) resident=$(resident)
coproc hold { "$work/hold" "$port" "$count"; }
clients=$hold_PID
from_clients "cannot all connect"
end=$((SECONDS + 60))
until [ "$(descriptors)" -ge "$count" ]; do
    ((SECONDS < end)) || fail "has only $(descriptors) descriptors"
done
ask
until [ "$(connections)" = "$count" ]; do
    ((SECONDS < end)) || fail "has $(connections) connections, and not $count"
    ask
done
each=$((($(after heap:) - empty) / count))
echo "$example: each of $count idle connections takes $each bytes of heap," \
    "$((($(resident) - resident) * 1024 / count)) bytes of resident memory"

before=$(processor_nanoseconds)
! read -r -t 2 -u "${hold[0]}" line || fail "its clients say $line"
busy=$((($(processor_nanoseconds) - before) / 1000))
echo "$example: it is busy for $busy microseconds of two seconds"

echo echo >&"${hold[1]}"
from_clients "are not answered"
echo "$example: an answer takes ${line#echo } microseconds at most, of $(((count + 99) / 100))"

ask
echo close >&"${hold[1]}"
before=${EPOCHREALTIME/./}
[ "$(printf 'hi\n' | timeout 10 nc -N "$host" "$port")" = hi ] || fail "does not answer while they close"
answer=$((${EPOCHREALTIME/./} - before))
from_clients "do not close"
# To report takes it long while there are many.
end=$((SECONDS + 60)) turn=0
until [ "$(descriptors)" -lt 64 ]; do
    ((SECONDS < end)) || fail "still has $(descriptors) descriptors"
done
until [ "$(connections)" = 0 ]; do
    ((SECONDS < end)) || fail "still has $(connections) connections"
    ask
    turn=$(longer "$turn" "$(after turn:)")
done
echo "$example: while they close, a turn takes $turn microseconds of CPU time at most; a new client has its answer" \
    "after $answer"
exec {hold[1]}>&-
wait "$clients" || fail "its clients end with status $?"

[ "$each" -le 1024 ] || fail "takes more than 1024 bytes of heap for an idle connection"
[ "$busy" -le 20000 ] || fail "is busy for more than 1 % of the time while nothing happens"
[ "$turn" -le 50000 ] || fail "a turn took more than 50 ms"
stop -TERM 5
