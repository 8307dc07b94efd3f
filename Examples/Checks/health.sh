#!/bin/bash
# Has HealthChecker look at servers of ours and of Python's: what is up, what expires soon, what is down, in lines and in JSON,
# and hundreds at a time. usage: health.sh
. "$(dirname "$0")/server.sh"
example=HealthChecker
check() {
    local status=0
    timeout 60 "$bin/HealthChecker" "$@" >"$work/said" 2>"$work/summary" || status=$?
    echo "$status"
}
expect() { grep -qE "$1" "$work/said" || fail "does not say $1, but: $(cat "$work/said" "$work/summary")"; }

example=EchoServer
Examples/certificates.sh "$work/certificates" >/dev/null
start --udp
plain=$port
others+=("$server")
start --tls-certificate "$work/certificates/server.pem" --tls-key "$work/certificates/server.key"
encrypted=$port
others+=("$server")
mkdir "$work/pages"
# There before it is read: who writes it may begin later.
: >"$work/pages.port"
(cd "$work/pages" && exec python3 -u -c '
import http.server
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()') >>"$work/pages.port" 2>/dev/null &
others+=($!)
pages=$(timeout 10 head -n 1 <(tail -n +1 -f --pid=$! "$work/pages.port"))
example=HealthChecker

up=("tcp://127.0.0.1:$plain" "tcp://localhost:$plain" "udp://127.0.0.1:$plain" "http://127.0.0.1:$pages")
trusted=(--ca "$work/certificates/ca.pem" "tls://localhost:$encrypted" "tls://127.0.0.1:$encrypted")
[ "$(check "${up[@]}" "${trusted[@]}")" = 0 ] || fail "says of what is up: $(cat "$work/said" "$work/summary")"
[ "$(grep -c '^up' "$work/said")" = 6 ] || fail "says: $(cat "$work/said")"
grep -qx "6 up, 0 with a warning, 0 down" "$work/summary" || fail "ends with: $(cat "$work/summary")"
expect "^up .*TLS 1.3, certificate valid for 36[45] days"

[ "$(check --days 400 "${up[@]}" "${trusted[@]}")" = 3 ] || fail "does not end with 3 after warnings"
[ "$(grep -c '^warning' "$work/said")" = 2 ] || fail "says: $(cat "$work/said")"

# A port that nobody listens on, a page that is not there, a certificate that nobody trusts, and a server that does not speak TLS.
down=("tcp://127.0.0.1:1" "http://127.0.0.1:$pages/none" "tls://localhost:$encrypted" "https://127.0.0.1:$pages/")
[ "$(check --attempts 2 "${down[@]}" "${up[@]}")" = 1 ] || fail "does not end with 1"
expect "^down .*tcp://127.0.0.1:1  .*connection refused \(.* ms, 2 attempts\)"
expect "^down .*/none  answered with status 404"
expect "^down .*tls://localhost:$encrypted  .*(unknown authority|issuer|self-signed)"
expect "^down .*https://127.0.0.1:$pages/  .*does not speak TLS"
grep -qx "4 up, 0 with a warning, 4 down" "$work/summary" || fail "ends with: $(cat "$work/summary")"

[ "$(check --json "${up[0]}" "${trusted[@]}")" = 0 ] || fail "has other results in JSON"
python3 -c '
import json, sys
found = [json.loads(line) for line in open(sys.argv[1])]
assert len(found) == 3 and all(entry["state"] == "up" and entry["attempts"] == 1 for entry in found), found
assert sorted(entry.get("daysLeft", 0) >= 364 for entry in found) == [False, True, True], found' "$work/said" || fail "its JSON"

# Answers that only inform come before the one that counts, and what is wrong or foreign does not reach the terminal.
: >"$work/answers.port"
python3 -u -c '
import socketserver
class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        head = b"".join(iter(self.rfile.readline, b"\r\n")).decode()
        host = "Host: 127.0.0.1:%d\r\n" % self.server.server_address[1]
        if not host in head:
            return self.wfile.write(b"HTTP/1.1 400 Bad Host\r\n\r\n")
        early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        last = {"/up": b"200 OK", "/?x": b"204 No Content", "/down": b"503 \xc2\x9b2J"}
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" + early + b"HTTP/1.1 " + last[head.split()[1]] + b"\r\n\r\n")
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()' >>"$work/answers.port" 2>/dev/null &
others+=($!)
answers=127.0.0.1:$(timeout 10 head -n 1 <(tail -n +1 -f --pid=$! "$work/answers.port"))
[ "$(check "HTTP://$answers/up" "http://$answers?x#y")" = 0 ] || fail "says of what informs first: $(cat "$work/said")"
expect "^up .*/up  status 200 "
expect "^up .*x#y  status 204 "
[ "$(check --attempts 1 "http://$answers/down")" = 1 ] || fail "takes 100 and 103 for the answer"
expect "^down .*/down  answered with status 503 \("

# Hundreds from a file.
{ echo "# many"; for _ in {1..500}; do echo "tcp://127.0.0.1:$plain"; done; } >"$work/hosts"
SECONDS=0
[ "$(check --file "$work/hosts")" = 0 ] || fail "says of 500: $(tail -n 3 "$work/said" "$work/summary")"
((SECONDS < 30)) || fail "takes $SECONDS s for 500 targets"
[ "$(check --file - <"$work/hosts")" = 0 ] || fail "does not read standard input"

for wrong in "" "foo" "tcp://h" "tcp://h:99999" "tcp://h:1/path" "http://[::1" "http://me@h/" "--timeout 0 tcp://a:1" "--attempts 0 tcp://a:1" \
    "--concurrency 0 tcp://a:1" "--file $work/none" "--ca $work/none tcp://a:1"; do
    [ "$(check $wrong)" = 1 ] && [ "$(wc -l <"$work/summary")" = 1 ] || fail "$wrong: $(cat "$work/said" "$work/summary")"
done
echo "HealthChecker: works"
