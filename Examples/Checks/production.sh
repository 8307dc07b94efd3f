#!/bin/bash
# What the page about production says holds: it names the flags of the echo server, all of them and no others, and
# systemd takes its units.
set -euo pipefail
page=Sources/UVFutures/Documentation.docc/RunningInProduction.md server=$PWD/Examples/.build/release/EchoServer

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The table of all example servers has a column that says by which test a limit is held.
sed '/| held by |/,/^$/d' "$page" | grep -oE 'EchoServer [^`]*|`--[a-z-]+`' | grep -oE -- '--[a-z-]+' | sort -u >"$work/named"
"$server" --help | sed -nE 's/^  (--[a-z-]+).*/\1/p' | sort -u >"$work/there"
if ! diff "$work/named" "$work/there" >&2; then
    echo "the flags that $page names (<) are not those that the server has (>)" >&2
    exit 1
fi
echo "$(wc -l <"$work/there") flags are those of the page"

awk -v work="$work" '
    /^```/ { file = ""; if ($0 == "```ini") file = work "/" unit; next }
    file { print > file; next }
    match($0, /`[a-z]+\.(socket|service)`:$/) { unit = substr($0, RSTART + 1, RLENGTH - 3) }
' "$page"
# The program has to be there.
sed -i "s|^ExecStart=[^ ]*|ExecStart=$server|" "$work/echo.service"
complaints=$(systemd-analyze verify --recursive-errors=no --man=no "$work"/echo.{socket,service} 2>&1) || status=$?
if [ "${status-0}" != 0 ] || [ -n "$complaints" ]; then
    printf 'systemd does not take the units of %s:\n%s\n' "$page" "$complaints" >&2
    exit 1
fi
echo "the units of the page are valid"
