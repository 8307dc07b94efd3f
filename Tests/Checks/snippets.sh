#!/bin/bash
# Compiles each Swift snippet of the README and of the documentation pages, as a program of its own.
# usage: snippets.sh MODULES
set -euo pipefail
export modules=$1

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

check() {
    local snippet=$1 library=() complaints
    if grep -q '^@main' "$snippet"; then library=(-parse-as-library); fi
    complaints=$(swiftc -typecheck "${library[@]}" -swift-version 6 -warnings-as-errors -diagnostic-style llvm -I "$modules" \
        -I Sources/CLibUV -I Sources/CRuntime -I Sources/CTLS $(pkg-config --cflags libuv) "$snippet" 2>&1) ||
        { echo "the snippet at $(sed -n '1s|^// ||p' "$snippet") does not compile:"$'\n'"$complaints" >&2; return 1; }
}
export -f check
snippets=("$work"/*.swift)
count=${#snippets[@]}
[ "$count" -ge 4 ] || { echo "only $count snippets were found" >&2; exit 1; }
printf '%s\0' "${snippets[@]}" | xargs -0 -P "$(nproc)" -I {} bash -c 'check {}'
echo "$count snippets compile"
