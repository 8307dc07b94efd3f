#!/bin/bash
# Compiles what the page about the compiler's messages shows as wrong, with default settings, and expects of each exactly
# the messages that are quoted above it.
# usage: messages.sh MODULES
set -euo pipefail
modules=$1 page=Sources/UVFutures/Documentation.docc/WhenItDoesNotCompile.md

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v work="$work" '
    /^> error: / { messages = messages substr($0, 3) "\n"; next }
    /^```swift error$/ {
        count++
        printf "%s", messages > sprintf("%s/%03d.txt", work, count)
        messages = ""
        file = sprintf("%s/%03d.swift", work, count)
        printf "// %s:%d\n", FILENAME, FNR > file
        next
    }
    /^```/ { file = "" }
    file { print > file }
' "$page"

failed=0 count=0
for program in "$work"/*.swift; do
    count=$((count + 1))
    library=(-parse-as-library)
    ! grep -q '^try ' "$program" || library=()
    # Sendability is checked by passes that -typecheck leaves out.
    swiftc -emit-sil -o /dev/null "${library[@]}" -swift-version 6 -diagnostic-style llvm -I "$modules" \
        -I Sources/CLibUV -I Sources/CFuturesSystem -I Sources/CFuturesRuntime -I Sources/CFuturesTLS $(pkg-config --cflags libuv) "$program" 2>&1 |
        sed -nE 's/^[^ ].*: (error: .*)/\1/p' | sed -E 's/ \[#[A-Za-z]+\]$//' | uniq >"$work/got" || true
    if ! diff "${program%.swift}.txt" "$work/got" >"$work/difference"; then
        echo "$(sed -n '1s|^// ||p' "$program"): the compiler says something else (>) than the page (<)" >&2
        cat "$work/difference" >&2
        failed=1
    fi
done
[ "$count" -ge 12 ] || { echo "only $count programs were found" >&2; exit 1; }
echo "$count messages of the compiler are as the page has them"
exit $failed
