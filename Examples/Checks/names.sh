#!/bin/bash
# Asks a real name server, unbound, as users would: by the example Lookup.
. "$(dirname "$0")/server.sh"

example=Lookup
PATH="$PATH:/usr/sbin"
# unbound does not say which port it has, and a zone has to name ports, so they are given some that were free a moment
# ago.
free_port() {
    python3 -c '
import socket
tcp = socket.create_server(("127.0.0.1", 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(tcp.getsockname())
print(tcp.getsockname()[1])'
}

peers=("$(free_port)" "$(free_port)")
# A zone of its own, with answers that do not fit into a datagram.
zone="$work/zone"
{
    cat <<'ZONE'
$ORIGIN names.test.
$TTL 300
@ 300 SOA ns.names.test. hostmaster.names.test. 1 3600 600 86400 77
@ 300 NS ns
ns 300 A 127.0.0.1
here 300 A 127.0.0.1
www 60 A 192.0.2.1
www 60 A 192.0.2.2
www 90 AAAA 2001:db8::1
alias 300 CNAME second
second 300 CNAME www
round 300 CNAME about
about 300 CNAME round
_http._tcp 30 SRV 20 0 81 b
_http._tcp 30 SRV 10 5 80 a
_none._tcp 300 SRV 0 0 0 .
@ 300 MX 20 mx2
@ 300 MX 10 mx1
@ 300 HTTPS 2 far alpn="h2"
@ 300 HTTPS 1 . alpn="h3,h2" port=8443 ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1 ech="AEj+DQ=="
only 300 HTTPS 1 . alpn="h3" no-default-alpn
apex 300 HTTPS 0 names.test.
plain 300 HTTPS 0 www
gone 300 HTTPS 0 .
later 300 HTTPS 1 . mandatory=key65000 key65000=x
text 300 TXT "one " "two"
escapes 300 TXT "\027[31m" "\000\010\"\\\\;ä\255~"
empty 300 A 192.0.2.9
ZONE
    for peer in "${peers[@]}"; do echo "_health._udp 300 SRV 0 0 $peer here"; done
    for number in {1..40}; do echo "big 300 TXT \"$number $(printf 'x%.0s' {1..200})\""; done
    for number in {1..200}; do echo "many 300 A 198.51.100.$number"; done
    for number in {1..1000}; do echo "n$number 300 TXT \"$number\""; done
} >"$zone"
reverse="$work/reverse"
cat >"$reverse" <<'ZONE'
$ORIGIN 2.0.192.in-addr.arpa.
$TTL 300
@ SOA ns.names.test. hostmaster.names.test. 1 3600 600 86400 77
@ NS ns.names.test.
1 PTR www.names.test.
ZONE

start_unbound() {
    port=$(free_port)
    cat >"$work/unbound.conf" <<CONF
server:
    interface: 127.0.0.1@$port
    do-daemonize: no
    username: ""
    chroot: ""
    directory: "$work"
    pidfile: ""
    use-syslog: no
    do-not-query-localhost: yes
    module-config: "iterator"
    local-zone: "2.0.192.in-addr.arpa." nodefault
    local-zone: "test." nodefault
    local-zone: "refused.test." refuse
    rrset-roundrobin: no
remote-control:
    control-enable: no
auth-zone:
    name: "names.test."
    zonefile: "$zone"
    for-upstream: no
auth-zone:
    name: "2.0.192.in-addr.arpa."
    zonefile: "$reverse"
    for-upstream: no
CONF
    unbound -d -c "$work/unbound.conf" >"$work/unbound.log" 2>&1 &
    server=$!
    timeout 10 bash -c "until (: <>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do kill -0 $server && sleep 0.05; done" ||
        fail "unbound does not start: $(cat "$work/unbound.log")"
}

stop_unbound() {
    kill "$server"
    wait "$server" || fail "unbound ended with status $?"
    server=
}

lookup() { timeout 30 "$bin/Lookup" --server 127.0.0.1 --port "$port" "$@"; }

# usage: expect LINES ARGUMENT...
expect() {
    local said
    said=$(lookup "${@:2}") || fail "${*:2}: fails with: $said"
    [ "$said" = "$1" ] || fail "${*:2}: says $said"
}

# usage: expect_failure LINE ARGUMENT...
expect_failure() {
    local said
    if said=$(lookup "${@:2}"); then fail "${*:2}: does not fail, and says $said"; fi
    [ "$said" = "$1" ] || fail "${*:2}: fails with $said"
}

start_unbound
says="127.0.0.1:$port says that"
expect "www.names.test 2001:db8::1 90
www.names.test 192.0.2.1 60
www.names.test 192.0.2.2 60" www.names.test
expect "Alias.names.test 2001:db8::1 90
Alias.names.test 192.0.2.1 60
Alias.names.test 192.0.2.2 60" Alias.names.test
expect "www.names.test 2001:db8::1 90
www.names.test 192.0.2.1 60
www.names.test 192.0.2.2 60" --random-case www.names.test
expect "_http._tcp.names.test 10 5 80 a.names.test 30
_http._tcp.names.test 20 0 81 b.names.test 30" --type services _http._tcp.names.test
expect "names.test 10 mx1.names.test 300
names.test 20 mx2.names.test 300" --type mail names.test
expect "names.test 1 names.test h3,h2,http/1.1 port=8443 hint=192.0.2.1 hint=192.0.2.2 hint=2001:db8::1 300
names.test 2 far.names.test h2,http/1.1 300" --type https names.test
expect "only.names.test 1 only.names.test h3 300" --type https only.names.test
expect "apex.names.test 1 names.test h3,h2,http/1.1 port=8443 hint=192.0.2.1 hint=192.0.2.2 hint=2001:db8::1 300
apex.names.test 2 far.names.test h2,http/1.1 300" --type https apex.names.test
expect "plain.names.test 0 www.names.test  300" --type https plain.names.test
expect 'text.names.test "one " "two" 300' --type texts text.names.test
# What would command the terminal is written as dig writes it.
for name in text escapes; do
    expect "$name.names.test $(dig +short -p "$port" @127.0.0.1 TXT "$name.names.test") 300" --type texts "$name.names.test"
done
expect "192.0.2.1 www.names.test 300" --type names 192.0.2.1
expect_failure "resolve EAI_NONAME no.names.test: $says no.names.test does not exist" no.names.test
expect_failure "resolve EAI_NODATA empty.names.test: $says empty.names.test has no TXT record" \
    --type texts empty.names.test
expect_failure "resolve EAI_NODATA text.names.test: $says text.names.test has no address" text.names.test
expect_failure "resolve EAI_NODATA _none._tcp.names.test: $says the domain does not have the service" \
    --type services _none._tcp.names.test
expect_failure "resolve EAI_NODATA gone.names.test: $says gone.names.test has no HTTPS server" --type https gone.names.test
expect_failure "resolve EAI_NODATA later.names.test: $says later.names.test has mandatory parameters that this library does not know" \
    --type https later.names.test
expect_failure "resolve EAI_AGAIN a.refused.test: 127.0.0.1:$port answered with an error (REFUSED)" a.refused.test
said=$(lookup round.names.test || true)
[[ $said == "resolve EAI_AGAIN round.names.test: 127.0.0.1:$port "* ]] || fail "of a circle: $said"

# What does not fit into a datagram comes by TCP.
said=$(lookup --statistics --type texts big.names.test) || fail "a big answer: $said"
[ "$(grep -c '^big.names.test "' <<<"$said")" = 40 ] || fail "loses a part of a big answer: $said"
grep -q 'queries: 2, .*truncatedAnswers: 1' <<<"$said" || fail "does not hear that an answer is truncated: $said"
said=$(lookup --statistics many.names.test) || fail "many addresses: $said"
[ "$(grep -c '^many.names.test 198.51.100' <<<"$said")" = 200 ] || fail "loses addresses: $said"

# A thousand names at a time.
said=$(lookup --statistics --type texts $(seq -f 'n%g.names.test' 1000)) || fail "a thousand names: $(tail -1 <<<"$said")"
[ "$(grep -cE '^n([0-9]+).names.test "\1" 300$' <<<"$said")" = 1000 ] || fail "loses some of a thousand names"

# Two that check each other find each other by the service.
for peer in "${peers[@]}"; do
    : >"$work/heartbeat-$peer"
    "$bin/Heartbeat" --port "$peer" --service _health._udp.names.test --name-server "127.0.0.1:$port" --interval 0.1 \
        >>"$work/heartbeat-$peer" &
    beats+=($!)
done
for peer in "${peers[@]}"; do
    for other in "${peers[@]}"; do
        timeout 10 grep -qm1 "^127.0.0.1:$other is up" <(tail -n +1 -f --pid=${beats[0]} "$work/heartbeat-$peer") ||
            fail "a heartbeat at $peer does not find $other: $(cat "$work/heartbeat-$peer")"
    done
done
kill -TERM "${beats[1]}"
timeout 10 grep -qm1 "^127.0.0.1:${peers[1]} is down" \
    <(tail -n +1 -f --pid=${beats[0]} "$work/heartbeat-${peers[0]}") || fail "a heartbeat does not miss its peer"
kill -TERM "${beats[0]}"
wait "${beats[0]}" || fail "a heartbeat ended with status $?"
wait "${beats[1]}" 2>/dev/null || true
stop_unbound

# Nobody listens any more.
said=$(lookup www.names.test || true)
[[ $said == "resolve EAI_AGAIN www.names.test: 127.0.0.1:$port could not be asked: "*ECONNREFUSED* ]] ||
    fail "of a server that is gone: $said"
echo "$example: works"
