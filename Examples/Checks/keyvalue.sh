#!/bin/bash
# Uses the built KeyValueServer by redis-cli, by redis-benchmark and by the client of Python, and kills it under load.
# usage: keyvalue.sh [KILLS]    how often it is killed, 5 unless given
. "$(dirname "$0")/server.sh"
example=KeyValueServer

cli() { timeout 10 redis-cli -p "$port" "$@"; }

# usage: expect TEXT COMMAND...
expect() {
    local said
    said=$(cli "${@:2}")
    [ "$said" = "$1" ] || fail "answers ${*:2} by: $said"
}

# usage: expect_refusal TEXT ARGUMENT...
expect_refusal() {
    local said complaint="$work/complaint"
    if said=$(timeout 10 "$bin/$example" "${@:2}" 2>"$complaint"); then fail "accepts ${*:2}"; fi
    [ "$(wc -l <"$complaint")" = 1 ] || fail "${*:2}: not one line of complaint: $(cat "$complaint")"
    grep -qF -e "$1" "$complaint" || fail "${*:2}: complains otherwise: $(cat "$complaint")"
    [[ $said != *"listening on"* ]] || fail "${*:2}: claims to listen"
}

by_hand() {
    start
    expect OK set greeting hello
    expect hello get greeting
    expect 3 incrby n 3
    expect none type nothing
    expect 2 dbsize
    cli info | grep '^db0:keys=2,expires=0' >/dev/null || fail "does not tell its keys"
    [ "$(printf 'set a "x y"\r\nget a\r\nquit\r\n' | timeout 10 nc -N "$host" "$port" | tr -d '\r' | tr '\n' ' ')" = '+OK $3 x y +OK ' ] ||
        fail "does not understand lines"
    timeout 20 redis-cli -p "$port" subscribe news >"$work/heard" &
    local listener=$!
    timeout 10 bash -c "until [ \"\$(redis-cli -p $port publish news hi)\" = 1 ]; do :; done" || fail "has no listener"
    timeout 10 bash -c "until grep -q '^hi' '$work/heard'; do :; done" || fail "does not publish"
    kill $listener
    wait $listener 2>/dev/null || true
    expect_refusal "in use" --port "$port"
    stop -TERM 5
}

refusals() {
    expect_refusal "The value 'many' is invalid" --port many
    expect_refusal "65536" --port 65536
    expect_refusal "a grace of -1.0 seconds makes no sense" --grace -1
    expect_refusal "a memory limit of 999999 bytes makes no sense" --memory-limit 999999
    expect_refusal "a rewrite size of 0 bytes makes no sense" --rewrite-size 0
    expect_refusal "an idle timeout of 0.0 seconds makes no sense" --idle-timeout 0
    expect_refusal "sometimes" --sync sometimes
    expect_refusal "300.0.0.1" --host 300.0.0.1
    expect_refusal "ENOENT" --append-file "$work/none/log"
    expect_refusal "EISDIR" --append-file "$work"
    timeout 10 "$bin/$example" --help | grep 'redis-benchmark -p 7379' >/dev/null || fail "does not say how to try it"
}

by_benchmark() {
    start
    local said
    said=$(timeout 50 redis-benchmark -p "$port" -n 20000 -P 16 -q -t ping,set,get,incr,mset 2>&1 | tr '\r' '\n')
    [ "$(grep -c 'requests per second' <<<"$said")" = 6 ] || fail "the benchmark says: $said"
    expect_no_more_writes
    stop -TERM 5
}

# The answers to all commands that come together leave with one write.
expect_no_more_writes() {
    local status=0
    timeout -s INT 5 strace -f -qq -e trace=write,writev,sendto,sendmsg -o "$work/trace" -p "$server" 2>/dev/null &
    local tracer=$!
    timeout 3 bash -c "until grep -q TracerPid:.*[1-9] /proc/$server/status; do :; done" || status=$?
    if [ $status != 0 ]; then
        echo "$example: writes not counted, ptrace is not permitted"
        return
    fi
    [ "$(yes PING | head -n 100 | timeout 10 nc -N "$host" "$port" | grep -c PONG)" = 100 ] || fail "loses answers"
    kill -INT $tracer
    wait $tracer 2>/dev/null || true
    [ "$(grep -c '\(write\|send\)[a-z]*(.*PONG' "$work/trace")" = 1 ] || fail "answers by: $(cat "$work/trace")"
}

by_python() {
    start --append-file "$work/log" --sync everysec
    timeout 30 /usr/bin/python3 "$(dirname "$0")/keyvalue-client.py" "$host" "$port" || fail "the client of Python is not content"
    stop -TERM 10
    # What it wrote is there again, and Redis can read it.
    start --append-file "$work/log"
    expect 4000 get shared
    expect_refusal "is used by another server" --append-file "$work/log"
    stop -TERM 5
    redis-check-aof "$work/log" >"$work/checked" 2>&1 && grep -q "AOF is valid\|is valid" "$work/checked" ||
        fail "Redis says of its file: $(cat "$work/checked")"
}

# The client of today, which greets with HELLO 3, with its own parser and with hiredis.
by_new_clients() {
    local python=/usr/bin/python3 clients="$work/clients" version
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    python3 -m pip install --quiet --root-user-action=ignore --no-deps --only-binary :all: --python-version "$version" --target "$clients/plain" \
        redis==5.3.1
    cp -r "$clients/plain" "$clients/hiredis"
    python3 -m pip install --quiet --root-user-action=ignore --no-deps --only-binary :all: --python-version "$version" --target "$clients/hiredis" \
        hiredis==3.3.0
    start
    for parser in plain hiredis; do
        for version in 2 3; do
            PYTHONPATH=$clients/$parser timeout 30 "$python" "$(dirname "$0")/keyvalue-client.py" "$host" "$port" $version ||
                fail "redis-py ($parser) is not content with version $version of the protocol"
            cli flushall >/dev/null
        done
    done
    stop -TERM 10
}

# The commands that it has get the answers of Redis, in both versions of the protocol.
beside_redis() {
    start
    timeout $((60 + $1 / 100)) /usr/bin/python3 "$(dirname "$0")/keyvalue-redis.py" "$host" "$port" "$1" || fail "answers otherwise than Redis"
    stop -TERM 10
}

largest() {
    start
    timeout 120 /usr/bin/python3 "$(dirname "$0")/keyvalue-largest.py" "$host" "$port" || fail "is slower than Redis"
    stop -TERM 10
}

# Beside clients that make it hold as much as they can, the answers are those of Redis.
# usage: hostile SECONDS MILLISECONDS    for how long, and for how long another client may wait
hostile() {
    start --memory-limit 10000000
    (while :; do /usr/bin/python3 "$(dirname "$0")/keyvalue-redis.py" "$host" "$port" 1000 >>"$work/beside" 2>&1 || exit; done) &
    local beside=$!
    timeout $(($1 + 60)) /usr/bin/python3 "$(dirname "$0")/keyvalue-hostile.py" "$host" "$port" "$server" 10000000 "$1" "$2" ||
        fail "does not bear clients that mean no good"
    kill $beside || fail "answers otherwise than Redis: $(tail -n 20 "$work/beside")"
    wait $beside 2>/dev/null || true
    echo "$(grep -c seed "$work/beside") times a thousand commands beside Redis meanwhile"
    stop -TERM 10
}

# Killed at random moments of a load that waits for the disk. What was acknowledged is there again.
kills() {
    start --append-file "$work/killed" --sync always --rewrite-size 20000
    timeout $((60 + 10 * $1)) /usr/bin/python3 "$(dirname "$0")/keyvalue-kills.py" "$1" "$bin/$example" "$work/killed" "$server" "$port" ||
        fail "lost what it had acknowledged"
    server=
}

full_disk() {
    # A limit of the size of files stands for the disk.
    wrapped=(prlimit --fsize=20000 env --ignore-signal=XFSZ)
    start --append-file "$work/full" --sync always
    wrapped=()
    local said count=0
    while said=$(cli set "key$count" "$(printf '%01000d' "$count")") && [ "$said" = OK ]; do count=$((count + 1)); done
    [[ $said == "MISCONF Errors writing to the AOF file: "* ]] || fail "says when the disk is full: $said"
    expect "$(printf '%01000d' 0)" get key0
    kill -KILL "$server"
    wait "$server" 2>/dev/null || true
    start --append-file "$work/full"
    for number in $(seq 0 $((count - 1))); do expect "$(printf '%01000d' "$number")" get "key$number"; done
    stop -TERM 5
}

damage() {
    start --append-file "$work/damaged" --sync always
    for number in 1 2 3; do expect OK set "key$number" value; done
    stop -TERM 5
    local size
    size=$(stat -c %s "$work/damaged")
    truncate -s $((size - 3)) "$work/damaged"
    start --append-file "$work/damaged"
    grep -q "its last [0-9]* bytes were not complete, and have been cut off" "$work/out" || fail "does not tell of a torn end"
    expect 2 dbsize
    stop -TERM 5
    printf X | dd of="$work/damaged" bs=1 seek=30 conv=notrunc status=none
    expect_refusal "is damaged at offset 0, and changes follow there" --append-file "$work/damaged"
}

places() {
    start --max-connections 2
    expect_room '*1\r\n$4\r\nPI' '*1\r\n$4\r\nPING\r\n' +PONG
    stop -TERM 5
}

for part in by_hand refusals places by_benchmark by_python by_new_clients "beside_redis $((2000 * ${1-5}))" largest \
    "hostile $((${1-5} < 100 ? 10 : 3600)) $((${1-5} < 100 ? 100 : 20))" "kills ${1-5}" full_disk damage; do
    $part
    echo "$example, $part: works"
done
