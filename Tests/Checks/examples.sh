#!/bin/bash
# Uses each built example as a client would.
. "$(dirname "$0")/server.sh"

expect_refusal() {
    local said complaint="$work/complaint"
    if said=$(timeout 10 "$bin/$example" "$@" 2>"$complaint"); then fail "accepts $*"; fi
    [ "$(wc -l <"$complaint")" = 1 ] || fail "$*: not one line of complaint: $(cat "$complaint")"
    [[ $said != *"listening on"* ]] || fail "$*: claims to listen"
}

expect_silence() {
    local status=0
    timeout -s INT 5 strace -f -qq -o "$work/trace" -p "$server" 2>/dev/null || status=$?
    if [ $status != 124 ]; then
        echo "$example: system calls not counted, ptrace is not permitted"
    elif grep -v '<detached \.\.\.>$' "$work/trace"; then
        fail "makes system calls while idle"
    fi
}

smoke_EchoServer() {
    start
    [ "$(printf 'hi\n' | timeout 10 nc -N "$host" "$port")" = hi ] || fail "does not echo and end"
    head -c 64M /dev/urandom >"$work/sent"
    timeout 60 socat -t 60 - "TCP:$host:$port" <"$work/sent" >"$work/received" ||
        fail "does not end after a half close"
    cmp "$work/sent" "$work/received" || fail "lost or changed bytes"
    expect_silence
    expect_refusal --port "$port"
    expect_refusal --port 65536
    expect_refusal --port many
    expect_refusal --backlog -1
    expect_refusal --grace -1
    expect_refusal --host 300.0.0.1
    expect_refusal --host example.invalid
    stop -TERM 2

    start --grace 10
    exec {client}<>"/dev/tcp/$host/$port"
    stop -INT 5 finish_client

    start --grace 1
    exec {client}<>"/dev/tcp/$host/$port"
    stop -TERM 5
    exec {client}>&-
}

# What was connected before the signal goes on; new connections are refused.
finish_client() {
    local line
    timeout 5 bash -c "while nc -z $host $port; do :; done" || fail "accepts after the signal"
    ! timeout 0.5 tail --pid=$server -f /dev/null || fail "ends before its client"
    echo "still here" >&"$client"
    read -r -t 5 -u "$client" line && [ "$line" = "still here" ] || fail "does not let a connection finish"
    exec {client}>&-
}

for folder in Examples/Sources/*/; do
    example=$(basename "$folder")
    "smoke_$example"
    echo "$example: works"
done
