#!/bin/bash
# Uses WebServer as its clients do: curl, ab, wrk, Python's websockets and a browser, and some who mean no good.
# usage: web.sh [IDLE WEBSOCKETS]
. "$(dirname "$0")/server.sh"

example=WebServer idle=${1:-1000} python=/usr/bin/python3
ulimit -n "$(ulimit -Hn)"

get() { curl -sS --max-time 20 "$@"; }
status() { get -o /dev/null -w '%{http_code}' "$@"; }
# usage: expect STATUS ARGUMENTS… of curl
expect() {
    local said
    said=$(status "${@:2}") || fail "curl ${*:2} ends with status $?"
    [ "$said" = "$1" ] || fail "answers ${*:2} with $said, not $1"
}
# usage: expect_refused STATUS TEXT    to the bytes on standard input
expect_refused() {
    timeout 20 nc -N "$host" "$port" >"$work/said" || fail "does not close after a bad request"
    [[ "$(head -n 1 "$work/said")" == "HTTP/1.1 $1 "* ]] || fail "does not answer with $1, but: $(head -n 1 "$work/said")"
    grep -q "$2" "$work/said" || fail "does not say: $2, but: $(tail -n 1 "$work/said")"
    grep -qi '^connection: close' "$work/said" || fail "does not say that it closes"
}
# Reads all there is, unlike grep -q: who writes into a closed pipe fails.
has() { grep -c -e "$1" >/dev/null; }
metric() { get "$url/metrics" | sed -n "s/^$1 //p"; }

mkdir -p "$work/site/below"
printf '<h1>hi</h1>' >"$work/site/index.html"
printf 'body { }' >"$work/site/below/a b.css"
head -c 3M /dev/urandom >"$work/site/large"
ln -s /etc/passwd "$work/site/out"
ln -s circle "$work/site/circle"
mkfifo "$work/site/fifo"
"$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$work/site/socket"

refusals() {
    local complaint="$work/complaint" arguments
    for arguments in "--port 65536" "--port many" "--grace -1" "--root $work/none" "--max-body -1" "--max-head 5" \
        "--idle-timeout 0" "--tls-key x" "--tls-key x --tls-certificate y" "--host 300.0.0.1" "--max-connections 0"; do
        if timeout 10 "$bin/WebServer" $arguments >/dev/null 2>"$complaint"; then fail "accepts $arguments"; fi
        [ "$(wc -l <"$complaint")" = 1 ] || fail "$arguments: not one line of complaint: $(cat "$complaint")"
    done
    timeout 10 "$bin/WebServer" --help | has --max-head || fail "has no --help"
}

pages() {
    [ "$(get "$url/hello")" = "Hello, world!" ] || fail "does not say hello"
    get -I "$url/hello" | has '^Content-Length: 14' || fail "does not answer HEAD"
    [ "$(get "$url/bytes/10000" | wc -c)" = 10000 ] || fail "does not send 10000 bytes"
    expect 404 "$url/none"
    expect 404 "$url/bytes/x"
    expect 405 -X DELETE "$url/hello"
    expect 501 -X BREW "$url/hello"
    expect 204 -X OPTIONS "$url/hello"
    get -i -H 'Connection: Upgrade' -H 'Upgrade: websocket' "$url/echo" | has '^Upgrade: websocket' || fail "answers 426 without Upgrade"
    get "$url/" | has '<title>WebServer' || fail "has no page"
    # A later HTTP/1 is taken for HTTP/1.1, whose connections are kept.
    printf 'GET /hello HTTP/1.2\r\nHost: a\r\n\r\nGET /hello HTTP/1.9\r\nHost: a\r\n\r\n' | timeout 10 nc -N "$host" "$port" >"$work/said"
    [ "$(grep -c '^HTTP/1.1 200 OK' "$work/said")" = 2 ] || fail "answers HTTP/1.2 with $(cat "$work/said")"
    # Three requests in one write, answered in order on one connection.
    printf 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /bytes/3 HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' |
        timeout 10 nc -N "$host" "$port" | tr -d '\r' | grep -E '^(HTTP|Hello|xxx)' | tr '\n' ' ' >"$work/said"
    grep -q '^HTTP/1.1 200 OK Hello, world! HTTP/1.1 200 OK xxxHTTP/1.1 404' "$work/said" ||
        fail "answers pipelined requests with $(cat "$work/said")"
    [ "$(get "$url/hello" "$url/hello" -w '%{num_connects}' | tr -dc 01)" = 10 ] || fail "does not keep a connection"
}

bodies() {
    head -c 900k /dev/urandom >"$work/body"
    get -T "$work/body" "$url/echo" | cmp - "$work/body" || fail "does not send a body back"
    get -H 'Transfer-Encoding: chunked' -T "$work/body" "$url/echo" | cmp - "$work/body" || fail "does not send chunks back"
    get -0 -T "$work/body" "$url/echo" | cmp - "$work/body" || fail "does not send a body back by HTTP/1.0"
    get -v -H 'Expect: 100-continue' -T "$work/body" "$url/echo" 2>&1 >/dev/null | has '< HTTP/1.1 100' ||
        fail "does not ask for a body"
    # Nobody wants these bodies: the answer is whole, says that it is the last, and the connection ends.
    local request
    for request in "GET /hello" "GET /files/large" "POST /hello" "HEAD /files/large" "GET /none"; do
        printf '%s HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n' "$request" |
            timeout 20 nc "$host" "$port" >"$work/said" || fail "does not close after $request with a body"
        grep -aqi '^connection: close' "$work/said" || fail "does not say that it closes after $request with a body"
        if [ "$request" = "GET /files/large" ] && [ "$(wc -c <"$work/said")" -lt 3145728 ]; then
            fail "sends $(wc -c <"$work/said") bytes of a file"
        fi
    done
    # Behind such a body that is broken there is no second answer.
    printf 'POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' | timeout 20 nc -N "$host" "$port" >"$work/said"
    [ "$(grep -ac '^HTTP' "$work/said")" = 1 ] || fail "answers a broken body that nobody wants with $(cat "$work/said")"
    # A file that was sent leaves nothing behind.
    printf 'GET /files/ HTTP/1.1\r\nHost: a\r\n\r\nGET /files/none HTTP/1.1\r\nHost: a\r\n\r\nGET /files/ HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n' |
        timeout 20 nc -N "$host" "$port" | grep -ao 'HTTP/1.1 [0-9]*' | tr '\n' ' ' >"$work/said"
    grep -q '200 HTTP/1.1 404 HTTP/1.1 200 HTTP/1.1 400' "$work/said" || fail "answers behind a file with $(cat "$work/said")"
    expect 413 -H 'Expect:' --data-binary "@$work/site/large" "$url/echo"
    expect 405 --data-binary "@$work/body" "$url/hello"
}

files() {
    [ "$(get "$url/files/")" = '<h1>hi</h1>' ] || fail "has no index.html"
    get -I "$url/files/below/a%20b.css" | has '^Content-Type: text/css' || fail "does not know a type"
    get "$url/files/large" | cmp - "$work/site/large" || fail "does not send a large file"
    get -r 1000-1999999 "$url/files/large" | cmp - <(tail -c +1001 "$work/site/large" | head -c 1999000) || fail "does not send a range"
    get -r -5 "$url/files/large" | cmp - <(tail -c 5 "$work/site/large") || fail "does not send the end"
    expect 206 -r 0-0 "$url/files/large"
    expect 416 -r 3145728- "$url/files/large"
    local tag modified
    tag=$(get -I "$url/files/large" | tr -d '\r' | sed -n 's/^ETag: //p')
    modified=$(get -I "$url/files/large" | tr -d '\r' | sed -n 's/^Last-Modified: //p')
    expect 304 -H "If-None-Match: $tag" "$url/files/large"
    expect 304 -H "If-None-Match: \"x\", W/$tag" "$url/files/large"
    expect 200 -H 'If-None-Match: "x"' "$url/files/large"
    expect 304 -H "If-Modified-Since: $modified" "$url/files/large"
    expect 200 -H "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT" "$url/files/large"
    expect 200 -r 0-0 -H 'If-Range: "x"' "$url/files/large"
    expect 206 -r 0-0 -H "If-Range: $tag" "$url/files/large"
    expect 301 "$url/files/below"
    expect 404 "$url/files/none"
    expect 404 "$url/files/fifo"
    expect 404 "$url/files/socket"
    expect 404 "$url/files/out"
    expect 404 "$url/files/index.html/x"
    expect 404 "$url/files/$(printf '%0256d' 0)"
    expect 404 "$url/files/$(printf '%0200d/' {1..25})"
    expect 404 "$url/files/%cc%81"
    expect 403 "$url/files/circle"
    expect 200 "$url/files/below%2fa%20b.css"
    get -I "$url/files/below?a=b" | has '^Location: /files/below/?a=b.$' || fail "loses the query of a directory"
    expect 404 --path-as-is "$url/files/../../etc/passwd"
    expect 404 --path-as-is "$url/files/%2e%2e/%2e%2e/etc/passwd"
    expect 404 --path-as-is "$url/files//etc/passwd"
    expect 400 "$url/files/%00"
    expect 400 "$url/files/%zz"
}

bad_requests() {
    printf 'GET / HTTP/1.1\nHost: a\n\n' | expect_refused 400 'CR LF'
    printf 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n' |
        expect_refused 400 'the end of the body is in doubt'
    printf 'GET /%s HTTP/1.1\r\nHost: a\r\n\r\n' "$(printf '%09000d' 0)" | expect_refused 414 'shorter target'
    printf 'GET / HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n' "$(printf '%09000d' 0)" | expect_refused 431 'too long'
    { printf 'GET / HTTP/1.1\r\nHost: a\r\n' && for _ in {1..101}; do printf 'X: a\r\n'; done && printf '\r\n'; } |
        expect_refused 431 'too many fields'
    local version
    for version in 2.0 3.0 0.9; do
        printf 'GET / HTTP/%s\r\nHost: a\r\n\r\n' $version | expect_refused 505 'only HTTP/1.1'
    done
    for version in HTTP/1.10 HTTP/01.1 HTTP/1 http/1.1 HTTP/1.1x; do
        printf 'GET / %s\r\nHost: a\r\n\r\n' $version | expect_refused 400 'in a version'
    done
    printf '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n' | expect_refused 400 'CR LF'
}

# usage: expect_broken STATUS TEXT CHUNKS
# What the client sends behind the fault does not take the answer from it, up to what a server reads then: 1 MiB.
expect_broken() {
    { printf "$chunked$3"; head -c 512K /dev/zero || true; } | expect_refused "$1" "$2"
}

chunks() {
    local chunked='POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n' fault
    expect_broken 400 'hexadecimal digits' 'zz\r\n'
    expect_broken 400 'hexadecimal digits' '5 \r\nhello\r\n'
    expect_broken 400 'extension of a chunk' '5;=\r\nhello\r\n'
    expect_broken 400 'extensions of the chunks are too long' "5;$(printf '%05000d' 0)\r\n"
    expect_broken 400 'CR LF' '5\nhello\n'
    expect_broken 400 'no colon' '0\r\nX\r\n\r\n'
    expect_broken 400 'behind the body' '0\r\nHost: b\r\n\r\n'
    expect_broken 413 'longer than is allowed' 'fffffff\r\n'
    # Where a part of the answer has left, the rest of it does not come, and it has no end.
    for fault in 'zz\r\n' '5helloo\r\n' '0\r\nHost: b\r\n\r\n' '5;=\r\n'; do
        { printf "${chunked}5\r\nhello\r\n$fault"; head -c 512K /dev/zero || true; } | timeout 20 nc -N "$host" "$port" >"$work/said" ||
            fail "resets a connection whose body breaks"
        [ "$(head -n 1 "$work/said")$(tail -n 1 "$work/said")" = $'HTTP/1.1 200 OK\rhello\r' ] ||
            fail "answers a body that breaks with $(cat "$work/said")"
    done
}

# An answer to HEAD is that to GET without its body, whatever its status.
heads() {
    local request method fields='Host: a\r\nConnection: close\r\n'
    for request in "/hello HTTP/1.1\r\n$fields" "/bytes/3 HTTP/1.2\r\n$fields" "/ HTTP/1.1\r\n$fields" "/none HTTP/1.1\r\n$fields" \
        "/echo HTTP/1.1\r\n$fields" "/bytes/x HTTP/1.1\r\n$fields" "/files/ HTTP/1.1\r\n$fields" "/files/none HTTP/1.1\r\n$fields" \
        "/files/below HTTP/1.1\r\n$fields" "/files/%%zz HTTP/1.1\r\n$fields" "/events HTTP/1.0\r\n$fields" \
        "/ HTTP/1.1\r\n" "/ HTTP/2.0\r\n$fields" "x HTTP/1.1\r\n$fields" "/ HTTP/1.1\r\nX\r\n$fields" "/ HTTP/1.1\n$fields" \
        "/ HTTP/1.1\r\n${fields}Expect: x\r\n" "/ HTTP/1.1\r\n${fields}Content-Length: 9999999\r\n" \
        "/ HTTP/1.1\r\n${fields}Transfer-Encoding: gzip, chunked\r\n" "/$(printf '%09000d' 0) HTTP/1.1\r\n$fields" \
        "/ HTTP/1.1\r\n${fields}X: $(printf '%09000d' 0)\r\n"; do
        for method in GET HEAD; do
            printf "$method $request\r\n" | timeout 20 nc -N "$host" "$port" | grep -av '^Date' >"$work/$method" ||
                fail "does not answer $method ${request:0:100}"
        done
        sed '/^\r$/q' "$work/GET" | cmp - "$work/HEAD" || fail "answers HEAD ${request:0:100} with $(cat "$work/HEAD")"
    done
    get -I "$url/events" | has '^Content-Type: text/event-stream' || fail "has no head of events"
}

# Ten clients that pipeline requests without end leave others their share of each turn.
pipelining() {
    local clients=()
    for _ in {1..10}; do
        yes $'GET /hello HTTP/1.1\r\nHost: a\r\n\r' | nc "$host" "$port" >/dev/null &
        clients+=($!)
    done
    others+=("${clients[@]}")
    ab -q -n 500 -c 1 -k "$url/hello" >"$work/ab" || fail "ab beside pipelined requests ends with status $?"
    kill "${clients[@]}"
    local longest
    longest=$(sed -n 's/^ *100% *\([0-9]*\).*/\1/p' "$work/ab")
    echo "$example: beside ten clients of pipelined requests, another one waits for $longest ms at most"
    [ "$longest" -lt 500 ] || fail "lets pipelined requests keep others waiting"
}

load() {
    ab -q -n 20000 -c 50 -k "$url/hello" >"$work/ab" || fail "ab ends with status $?"
    grep -q '^Complete requests: *20000' "$work/ab" && grep -q '^Failed requests: *0' "$work/ab" ||
        fail "ab: $(grep requests "$work/ab")"
    wrk -t1 -c50 -d2s "$url/hello" >"$work/wrk" || fail "wrk ends with status $?"
    ! grep -qE 'Non-2xx|Socket errors' "$work/wrk" || fail "wrk: $(cat "$work/wrk")"
    echo "$example: $(sed -n 's/^Requests.sec: *//p' "$work/wrk") requests a second of wrk"
}

metrics() {
    get "$url/metrics" | has '^webserver_connections 1$' || fail "counts other connections than one"
    [ "$(metric 'webserver_responses_total{class="2xx"}')" -gt 20000 ] || fail "does not count answers"
    timeout 3 curl -sSN "$url/events" >"$work/events" || [ $? = 124 ] || fail "has no events"
    [ "$(grep -c '^data: {"milliseconds":' "$work/events")" -ge 4 ] || fail "sends few events: $(cat "$work/events")"
}

# Heads that drip, bodies that stall, and answers that nobody reads are cut off, and take no memory that stays.
slow_clients() {
    "$python" -B Examples/Checks/slow-web.py "$port" "$server" || fail "is held up by slow clients"
}

declare -A said
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key" -out "$work/certificate" 2>/dev/null
}

refusals
start --root "$work/site" --grace 10
url=http://$host:$port
for part in pages bodies files bad_requests chunks heads pipelining load metrics; do
    "$part"
    echo "$example: $part"
done
"$python" -B Examples/Checks/web-sockets.py "$port" || fail "does not speak WebSocket as Python's websockets does"
"$python" -B Examples/Checks/live-page.py "$url" "$work/page" || fail "its page does not show what is"
[ -z "${SCREENSHOTS-}" ] || cp "$work"/page*.png "$SCREENSHOTS"
stop -TERM 5

start --root "$work/site" --request-timeout 1 --idle-timeout 2 --write-timeout 2
# The time for a body does not run while the client takes the answer.
truncate -s 64M "$work/site/huge"
printf 'GET /files/huge HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' |
    timeout 20 nc -N "$host" "$port" | (sleep 1.5; cat) | tail -n 1 | has 'Hello, world' || fail "cuts the answer to a slow client"
url=http://$host:$port
slow_clients
stop -TERM 5

start --idle-timeout 3600
"$python" -B Examples/Checks/idle-web.py "$port" "$idle" || fail "takes more for idle WebSockets than it may"
# All of them are told that the server goes away.
stop -TERM 10

start --max-connections 2
expect_room 'GET /hello HTTP/1.1\r\nHo' 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\n' 'HTTP/1.1 200 OK'
stop -TERM 5

certificate
start --tls-certificate "$work/certificate" --tls-key "$work/key"
[ "$(get --cacert "$work/certificate" "https://127.0.0.1:$port/hello")" = "Hello, world!" ] || fail "does not speak TLS"
stop -TERM 5

start --grace 10
url=http://$host:$port
# An answer that is under way when the signal comes is completed.
get --limit-rate 2M "$url/bytes/1048576" >"$work/late" &
late=$!
timeout 5 bash -c "until [ -s '$work/late' ]; do :; done" || fail "does not begin to answer"
stop -TERM 10
wait $late || fail "cuts off an answer that is under way"
[ "$(wc -c <"$work/late")" = 1048576 ] || fail "loses bytes of an answer that is under way"
echo "$example: works"
