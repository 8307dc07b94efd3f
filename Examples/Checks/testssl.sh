#!/bin/bash
# testssl.sh finds nothing above LOW in the encrypted echo server, with keys of EC and of RSA. It speaks with this machine
# alone. Findings that are excused are named here, by their ids, with the reason.
. "$(dirname "$0")/server.sh"

# Its openssl hangs up before the tickets of TLS 1.3 come, now and then, and so it has no session to try. The tests of
# foreign peers resume sessions.
excused=(sessionresumption_ticket sessionresumption_ID)

# usage: examine FLAG…    has testssl.sh look at the server, and leaves its findings in $work/findings
examine() {
    rm -f "$work/findings"
    timeout 1200 testssl --quiet --color 0 --warnings off --nodns none --openssl-timeout 10 --jsonfile "$work/findings" \
        "$@" "localhost:$port" >"$work/said" 2>&1 </dev/null || true
    [ -s "$work/findings" ] || fail "testssl.sh finds nothing: $(cat "$work/said")"
}

# Prints what is above LOW, and what shows that it did not look at everything.
judge() {
    python3 - "$work/findings" "${excused[@]}" <<'END'
import json, sys
findings = json.load(open(sys.argv[1]))
excused = set(sys.argv[2:])
for finding in findings:
    if finding["severity"] in ("MEDIUM", "HIGH", "CRITICAL", "WARN", "FATAL") and finding["id"] not in excused:
        print(finding["severity"], finding["id"], finding["finding"])
END
}

example=EchoServer
for kind in EC RSA; do
    certificates=$work/$kind flags=()
    [ $kind = EC ] || flags=(--rsa)
    Examples/certificates.sh "${flags[@]}" --crl http://localhost/ca.crl "$certificates" >/dev/null
    start --idle-timeout 10 --tls-certificate "$certificates/server.pem" --tls-key "$certificates/server.key"
    if [ $kind = EC ]; then
        # It has to notice what is wrong: an authority that it does not know.
        examine --server-defaults
        judge | grep '^CRITICAL cert_chain_of_trust ' >/dev/null || fail "is trusted by whoever does not know its authority"
    fi
    examine --protocols --std --pfs --server-preference --server-defaults --vulnerable --add-ca "$certificates/ca.pem"
    complaints=$(judge)
    [ -z "$complaints" ] || fail "testssl.sh says:
$complaints"
    for id in TLS1_2 TLS1_3 cert_chain_of_trust heartbleed secure_client_renego RC4 LUCKY13; do
        grep -q "\"id\" *: \"$id\"" "$work/findings" || fail "testssl.sh has not looked at $id: $(tail -5 "$work/said")"
    done
    echo "testssl.sh: $(grep -c '"severity"' "$work/findings") findings about keys of $kind, of which none is above LOW"
    stop -TERM 20
done
