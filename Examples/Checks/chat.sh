#!/bin/bash
# Uses ChatServer as its members do, alone by nc and curl, and with all of Examples/chat.sh by many members at a time.
# usage: chat.sh [MEMBERS] [SECONDS] [KILL EVERY SECONDS] [REDIS KILLS]    20 of each kind for 15 s unless given
. "$(dirname "$0")/server.sh"

example=ChatServer python=/usr/bin/python3
PATH="$PATH:/usr/sbin"
ulimit -n "$(ulimit -Hn)"

# Says lines on standard input to the chat. usage: speak TEXT    which the answers have to hold
speak() {
    timeout 10 nc "$host" "$port" >"$work/said" || fail "does not end a conversation"
    grep -qF -e "$1" "$work/said" || fail "does not say: $1, but: $(cat "$work/said")"
}

# usage: expect_refusal TEXT ARGUMENT...
expect_refusal() {
    local said complaint="$work/complaint"
    if said=$(timeout 40 "$bin/$example" --port 0 --web-port 0 "${@:2}" 2>"$complaint"); then fail "accepts ${*:2}"; fi
    [ "$(wc -l <"$complaint")" = 1 ] || fail "${*:2}: not one line of complaint: $(cat "$complaint")"
    grep -qF -e "$1" "$complaint" || fail "${*:2}: complains otherwise: $(cat "$complaint")"
    [[ $said != *"listening on"* ]] || fail "${*:2}: claims to listen"
}

refusals() {
    expect_refusal "The value 'many' is invalid" --port many
    expect_refusal "65536" --port 65536
    expect_refusal "65536" --web-port 65536
    expect_refusal "a grace of -1.0 seconds makes no sense" --grace -1
    expect_refusal "a history of 0 messages makes no sense" --history 0
    expect_refusal "a buffer of 1 bytes makes no sense" --member-buffer 1
    expect_refusal "a pace of 0 lines makes no sense" --pace 0
    expect_refusal "The value 'here' is invalid" --redis here
    expect_refusal "--redis-key is empty" --redis-key ''
    expect_refusal "go together" --tls-key x
    expect_refusal "a certificate cannot be read" --tls-key "$work/none" --tls-certificate "$work/none"
    expect_refusal "300.0.0.1" --host 300.0.0.1
    timeout 10 "$bin/$example" --help | grep -c 'nc 127.0.0.1 7700' >/dev/null || fail "does not say how to try it"
    expect_refused_script "0 is no number of processes" 0
}

expect_refused_script() {
    if timeout 10 Examples/chat.sh "$2" 2>"$work/complaint"; then fail "chat.sh accepts $2"; fi
    grep -qF "$1" "$work/complaint" || fail "chat.sh complains otherwise: $(cat "$work/complaint")"
}

by_hand() {
    start --web-port 0
    local url
    url=$(sed -n 's/^look at //p' "$work/out")
    printf '/join lobby\nhello\n/who\n/quit\n' | speak 'ok 1'
    grep -q 'guest1: hello' "$work/said" && grep -qF '* in lobby: guest1' "$work/said" || fail "says: $(cat "$work/said")"
    printf '/join lobby\n/quit\n' | speak 'guest1: hello'
    printf '%05000d\n' 0 | speak 'a line has at most 4352 bytes'
    curl -sS --max-time 10 "$url" | grep -c '<title>Chat' >/dev/null || fail "has no page"
    [ "$(curl -sS --max-time 10 "${url}health" "${url}none" -X GET | tail -n 1)" = "there is nothing at this path; the chat is at /" ] ||
        fail "answers for another path"
    [ "$(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' -d x "$url")" = 405 ] || fail "accepts a POST"
    [ "$(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "${url}chat")" = 426 ] || fail "answers without a WebSocket"
    curl -sS --max-time 10 -i "${url}chat" | grep -c '^Upgrade: websocket' >/dev/null || fail "answers 426 without Upgrade"
    local web=${url#http://}
    web=${web%/}
    [ "$(printf 'HEAD / HTTP/1.1\r\n\r\n' | timeout 10 nc -N "${web%:*}" "${web##*:}" | tail -n 1)" = $'\r' ] ||
        fail "sends a body to a HEAD that it refuses"
    [ "$(opens "$url")" = 101 ] || fail "opens no WebSocket for a program"
    [ "$(opens "$url" -H "Origin: ${url%/}")" = 101 ] || fail "opens no WebSocket for its page"
    [ "$(opens "$url" -H 'Origin: http://other.example')" = 403 ] || fail "opens a WebSocket for the page of another site"
    # A member that waits is told of the end, which does not wait for it.
    { printf '/join lobby\n'; sleep 5; } | timeout 10 nc "$host" "$port" >"$work/told" &
    timeout 5 bash -c "until grep -q 'you are in lobby' '$work/told'; do :; done" || fail "does not greet"
    stop -TERM 4
    grep -q 'this server ends' "$work/told" || fail "does not say that it ends: $(cat "$work/told")"
}

# Tells the status of a handshake. usage: opens URL ARGUMENT...
opens() {
    curl -sS --max-time 1 --http1.1 -o /dev/null -w '%{http_code}' -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
        -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==' "${@:2}" "${1}chat" 2>/dev/null || true
}

# What one member can make of few bytes beside others.
pace() {
    start --web-port 0
    "$python" -B "$(dirname "$0")/chat-pace.py" "$port" || fail "does much for few bytes"
    stop -TERM 5
}

by_browser() {
    start --web-port 0
    "$python" -B "$(dirname "$0")/chat-page.py" "$(sed -n 's/^look at //p' "$work/out")" "$port" "$work/chat-page" ||
        fail "its page does not chat"
    [ -z "${SCREENSHOTS-}" ] || cp "$work"/chat-page*.png "$SCREENSHOTS"
    stop -TERM 5
}

encrypted() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key" -out "$work/certificate" 2>/dev/null
    start --web-port 0 --tls-certificate "$work/certificate" --tls-key "$work/key"
    curl -sS --max-time 10 --cacert "$work/certificate" "$(sed -n 's/^look at //p' "$work/out")health" | grep -c ok >/dev/null ||
        fail "does not speak TLS to the page"
    { printf '/join lobby\nhello\n/quit\n'; sleep 1; } |
        timeout 10 openssl s_client -quiet -CAfile "$work/certificate" -connect "$host:$port" >"$work/said" 2>/dev/null || true
    grep -q 'ok 1' "$work/said" || fail "does not speak TLS: $(cat "$work/said")"
    stop -TERM 5
}

# A member that does not read is cut off, and nobody waits for it.
slow() {
    start --web-port 0 --member-buffer 65536 --pace 1000000
    "$python" -B "$(dirname "$0")/chat-slow.py" "$port" || fail "is held up by a slow member"
    stop -TERM 5
    grep -q 'cut off 1 members' "$work/out" || fail "has cut off others: $(tail -n 2 "$work/out")"
}

# All of it by one command, with trouble.
together() {
    TMPDIR=$work Examples/chat.sh >"$work/chat" 2>&1 &
    local chat=$!
    others+=("$chat")
    timeout 40 bash -c "until grep -q 'Ctrl-C' '$work/chat'; do kill -0 $chat || exit 1; sleep 0.1; done" ||
        fail "chat.sh does not start: $(cat "$work/chat")"
    local lines web redis control
    lines=$(sed -n 's/^listening on .*://p' "$work/chat") web=$(sed -n 's/^look at .*:\([0-9]*\).*/\1/p' "$work/chat")
    redis=$(sed -n 's/.*redis-cli -p \([0-9]*\) .*/\1/p' "$work/chat") control=$(sed -n 's/.*nc -N -U //p' "$work/chat")
    # HAProxy passes the address of the client on.
    "$python" - "$lines" <<'PYTHON' || fail "does not know where its members come from"
import socket, sys
member = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
hello = member.makefile().readline()
assert f"from 127.0.0.1:{member.getsockname()[1]}." in hello, hello
PYTHON
    "$python" -B "$(dirname "$0")/chat-load.py" "$lines" "$web" "$redis" "$control" "$@" ||
        { tail "$(dirname "$control")/log" >&2 && fail "is not what its members expect"; }
    local pids
    pids=$(pgrep -d ' ' -P "$(pgrep -d , -P "$chat")")
    [ -n "$pids" ] || fail "chat.sh has no processes"
    kill "$chat"
    timeout 20 tail --pid="$chat" -f /dev/null || fail "chat.sh does not end"
    for pid in $pids; do [ ! -e "/proc/$pid" ] || fail "chat.sh leaves process $pid"; done
    [ ! -e "$(dirname "$control")" ] || fail "chat.sh leaves its directory"
}

places() {
    start --web-port 0 --max-connections 2
    expect_room hel 'hello\n' '* hello, guest'
    expect_room 'GET /health HTTP/1.1\r\nHo' 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n' 'HTTP/1.1 200 OK' \
        "$(sed -n 's/^look at .*:\([0-9]*\).*/\1/p' "$work/out")"
    stop -TERM 10
}

for part in refusals by_hand places by_browser encrypted slow pace "together ${1-20} ${2-15} ${3-5} ${4-1}"; do
    $part
    echo "$example, $part: works"
done
