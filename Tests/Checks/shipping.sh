#!/bin/bash
# Builds the template without a shared library, by the lines of the guide Shipping, and runs it as process 1 of a root that holds
# nothing else. Links a debug build, which takes half the time. With "sizes", compares the guide's table with its four builds.
# usage: shipping.sh [sizes]
set -euo pipefail
here=$PWD page=$PWD/Sources/UVFutures/Documentation.docc/Shipping.md root=$PWD/.build-shipping/root log=$PWD/.build-shipping/log
fail() { echo "the shipped template $1" >&2; tail -n 40 "$log" >&2; exit 1; }
# What was built before stays, and is built again only where it has changed.
mkdir -p "$root/proc" "$root/etc"
git ls-files -z --cached --others --exclude-standard Examples/Template | xargs -0 cp -p --parents -t .build-shipping
cd .build-shipping/Examples/Template
sed -i "s|path: \"../..\"|path: \"$here\"|" Package.swift
. <(grep -E '^(mkdir|ln|echo) .*static' "$page")
if [ "${1:-}" = sizes ]; then
    grep -E '^\| (nothing else|`-.*static)' "$page" | while IFS='|' read -r _ flags whole stripped _; do
        swift build -c release --product Daemon $(tr -d '`' <<<"${flags/nothing else/}") >"$log" 2>&1 || fail "does not build"
        strip -o "$root/app" .build/release/Daemon
        du -bL .build/release/Daemon "$root/app" | awk -v said="$whole $stripped" '{ split(said, mb)
            print; if (($1 / 1e6 - mb[NR]) ^ 2 > 1) exit 1 }' >"$log" || fail "is not as large"
        [[ $flags$(ldd .build/release/Daemon 2>&1) != *pkg-config*libuv* ]] || fail "loads libuv"
    done; exit
fi
sed -i '/let arguments/i for resolver: any NameResolver in [try SystemResolver(), try DNSResolver()] {\
    say("\\(try await EventLoop.main.addresses(of: "here.example", port: 7, resolver: resolver).value)")\
}' Sources/Daemon/Daemon.swift
build=$(grep '^swift build .*-static-executable' "$page") || fail "is not in the guide"
${build/-c release/--product Daemon} >"$log" 2>&1 || fail "does not build"
! ldd .build/debug/Daemon >"$log" 2>&1 && cp .build/debug/Daemon "$root/app" || fail "loads shared libraries"
echo 127.0.0.9 here.example >"$root/etc/hosts"
unshare $( ((UID == 0)) || echo -r) -pf --kill-child --mount-proc -R "$root" /app 0 >"$log" 2>&1 &
server=$!
trap 'kill -9 "$server" 2>/dev/null || true' EXIT
timeout 60 bash -c 'until grep -q "^listening on" "$1"; do sleep 0.1; done' - "$log" || fail "does not run"
[ "$(grep -cxF '[127.0.0.9:7]' "$log")" = 2 ] || fail "does not find a name by both resolvers"
port=$(sed -n 's/^listening on .*://p' "$log")
[ "$(timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; echo Ada >&3; head -n 1 <&3")" = 'hello, Ada' ] || fail "does not greet"
kill -TERM "$(pgrep -P "$server")"
wait "$server" && grep -qE 'connections? finished' "$log" || fail "does not end in order"
echo "the template, with no file beside it, finds a name by both resolvers, greets as process 1, and ends at SIGTERM"
