#!/bin/bash
# Compiles each Swift snippet of the README and of the documentation pages, as a program of its own.
# usage: snippets.sh MODULES
set -euo pipefail
modules=$1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A fence that says just "swift" opens a program; one with another word after it ("swift package") does not.
pages=(README.md)
while read -r page; do pages+=("$page"); done < <(find Sources -name '*.md')
awk -v work="$work" '
    /^```swift$/ { count++; file = sprintf("%s/%03d.swift", work, count); printf "// %s:%d\n", FILENAME, FNR > file; next }
    /^```/ { file = ""; next }
    file { print > file }
' "${pages[@]}"

failed=0 count=0
for snippet in "$work"/*.swift; do
    count=$((count + 1))
    library=()
    if grep -q '^@main' "$snippet"; then library=(-parse-as-library); fi
    if ! complaints=$(swiftc -typecheck "${library[@]}" -swift-version 6 -warnings-as-errors -diagnostic-style llvm -I "$modules" \
        -I Sources/CLibUV -I Sources/CRuntime -I Sources/CTLS $(pkg-config --cflags libuv) "$snippet" 2>&1); then
        echo "the snippet at $(sed -n '1s|^// ||p' "$snippet") does not compile:" >&2
        echo "$complaints" >&2
        failed=1
    fi
done
[ "$count" -ge 4 ] || { echo "only $count snippets were found" >&2; exit 1; }
echo "$count snippets compile"
exit $failed
