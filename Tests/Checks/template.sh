#!/bin/bash
# Copies the template out of the repository, as one does who begins a daemon, and tests and runs it by its own Makefile, where
# OpenSSL's headers are not to be had: a package that uses UVFutures alone builds with no warning, and loads no file of OpenSSL's.
set -euo pipefail

here=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "the template $1" >&2; [ ! -e "$work/log" ] || tail -n 40 "$work/log" >&2; exit 1; }

git ls-files -z --cached --others --exclude-standard Examples/Template | xargs -0 cp --parents -t "$work"
package=$work/Examples/Template
sed -i "s|path: \"../..\"|path: \"$here\"|" "$package/Package.swift"
# Whoever may mount has the headers hidden.
hide='mount -t tmpfs none /usr/include/openssl'
if unshare -m sh -c "$hide" 2>/dev/null; then hidden=(unshare -m sh -c "$hide; exec \"\$@\"" sh); else hidden=(); fi
"${hidden[@]}" make -C "$package" test >"$work/log" 2>&1 || fail "does not pass its tests"
! grep -E 'warning:|libssl' "$work/log" >&2 || fail "does not build without a warning"
ldd "$package/.build/debug/Daemon" >"$work/libraries"
! grep -E 'libssl|libcrypto' "$work/libraries" >&2 || fail "loads that"

setsid make -C "$package" run ARGS=0 >"$work/log" 2>&1 &
server=$!
timeout 60 bash -c 'until grep -q "^listening on" "$1"; do sleep 0.1; done' - "$work/log" || fail "does not run"
port=$(sed -n 's/^listening on .*://p' "$work/log")
answer=$(timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; echo Ada >&3; head -n 1 <&3")
[ "$answer" = 'hello, Ada' ] || fail "does not greet"
kill -TERM -- "-$server"
wait "$server" || true
grep -qE '^(0 connections|1 connection) finished, 0 were aborted, 0 failed' "$work/log" || fail "does not end in order"
echo "the template builds without OpenSSL${hidden:+, even without its headers}, passes its tests, and runs"
