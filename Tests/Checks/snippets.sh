#!/bin/bash
# Compiles each Swift snippet of the README and of the documentation pages, as a program of its own: with the settings of a
# new package, with asynchronous functions that run where their callers do, and isolated to the main actor besides.
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

# These show code of tests, which are isolated to nothing, and what is to be written without settings.
export tests="SimulateYourDaemon.md|WhenItDoesNotCompile.md"
nonsending="-enable-upcoming-feature NonisolatedNonsendingByDefault"

check() {
    local snippet=$1 settings complaints library=()
    if grep -q '^@main' "$snippet"; then library=(-parse-as-library); fi
    for settings in "" "$nonsending" "$nonsending -default-isolation MainActor"; do
        [[ $settings != *MainActor ]] || ! head -n 1 "$snippet" | grep -qE "$tests" || continue
        complaints=$(swiftc -typecheck "${library[@]}" $settings -swift-version 6 -warnings-as-errors -diagnostic-style llvm \
            -I "$modules" -I Sources/CLibUV -I Sources/CSystem -I Sources/CRuntime -I Sources/CTLS $(pkg-config --cflags libuv) "$snippet" 2>&1) || {
            echo "the snippet at $(sed -n '1s|^// ||p' "$snippet") does not compile with the settings '$settings':" >&2
            echo "$complaints" >&2
            return 1
        }
    done
}
export nonsending
export -f check
snippets=("$work"/*.swift)
count=${#snippets[@]}
[ "$count" -ge 4 ] || { echo "only $count snippets were found" >&2; exit 1; }
printf '%s\0' "${snippets[@]}" | xargs -0 -P "$(nproc)" -I {} bash -c 'check {}'
# An asynchronous function of a program's that is isolated to nothing compiles, and traps where it uses a future.
! awk '/^```/ { isShown = /^```swift$/; next } isShown && /^func .* async / { print FILENAME ": " $0; isFound = 1 }
    END { exit !isFound }' "${pages[@]}" || { echo "these are isolated to nothing, and trap in a program" >&2; exit 1; }
echo "$count snippets compile, with three kinds of settings"
