#!/bin/bash
# Compiles each Swift snippet of the README and of the documentation pages, as a program of its own: with the settings of a
# new package, with asynchronous functions that run where their callers do, and isolated to the main actor besides.
# With a number, so many of them, or all, are also linked and run for a moment with each of these settings, in an empty
# directory and a network of their own. A snippet may go on for ever, or end with an error, such as that of a server that
# nobody runs here. It may not trap.
# usage: snippets.sh BUILD-DIRECTORY [NUMBER | all]
set -euo pipefail
export build=$1
count=${2-}

export work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A fence that says just "swift" opens a program; one with another word after it ("swift package") does not.
pages=(README.md)
while read -r page; do pages+=("$page"); done < <(find Sources -name '*.md')
awk -v work="$work" '
    /^```swift$/ { count++; file = sprintf("%s/%03d.swift", work, count); printf "// %s:%d\n", FILENAME, FNR > file; next }
    /^```/ { file = ""; next }
    file { print > file }
' "${pages[@]}"
snippets=("$work"/*.swift)
[ "${#snippets[@]}" -ge 4 ] || { echo "only ${#snippets[@]} snippets were found" >&2; exit 1; }

# These show code of tests, which are isolated to nothing, and what is to be written without settings.
export tests="SimulateYourDaemon.md|WhenItDoesNotCompile.md"
export nonsending="-enable-upcoming-feature NonisolatedNonsendingByDefault"

# usage: compile SNIPPET OPTIONS...
compile() {
    local library=()
    if grep -q '^@main' "$1"; then library=(-parse-as-library); fi
    swiftc "${library[@]}" -swift-version 6 -warnings-as-errors -diagnostic-style llvm -I "$build/Modules" -I Sources/CLibUV \
        -I Sources/CFuturesSystem -I Sources/CFuturesRuntime -I Sources/CFuturesTLS $(pkg-config --cflags libuv) "$1" "${@:2}" 2>&1
}
# usage: with_settings COMMAND SNIPPET    calls it with the settings as well
with_settings() {
    local settings
    for settings in "" "$nonsending" "$nonsending -default-isolation MainActor"; do
        [[ $settings != *MainActor || ! $(head -n 1 "$2") =~ $tests ]] || continue
        "$1" "$2" "$settings" >"$2.log" 2>&1 || {
            echo "the snippet at $(sed -n '1s|^// ||p' "$2") does not $1 with the settings '$settings':" >&2
            cat "$2.log" >&2
            return 1
        }
    done
}
check() { compile "$1" -typecheck $2; }
run() {
    local status=0
    mkdir -p "$1.run"
    compile "$1" $2 -o "$1.run/program" -use-ld=lld @"$work/objects" $(pkg-config --libs libuv openssl) || return
    (cd "$1.run" && unshare --map-root-user --net bash -c 'ip link set lo up; exec timeout -k 1 2 ./program') </dev/null || status=$?
    rm -rf "$1.run"
    # A snippet that goes on is ended by SIGTERM, or by SIGKILL if it waits for that signal.
    [ $status -lt 128 ] || [ $status = 137 ] || [ $status = 143 ] || grep -q 'Error raised at top level' "$1.log"
}
export -f compile with_settings check run

printf '%s\0' "${snippets[@]}" | xargs -0 -P "$(nproc)" -I {} bash -c 'with_settings check {}'
# An asynchronous function of a program's that is isolated to nothing compiles, and traps where it uses a future.
! awk '/^```/ { isShown = /^```swift$/; next } isShown && /^func .* async / { print FILENAME ": " $0; isFound = 1 }
    END { exit !isFound }' "${pages[@]}" || { echo "these are isolated to nothing, and trap in a program" >&2; exit 1; }
echo "${#snippets[@]} snippets compile, with three kinds of settings"

[ "$count" ] || exit 0
[ "$count" != all ] || count=${#snippets[@]}
for part in Futures ByteStreams SystemIO UVFutures FuturesTesting TLSStreams; do ls "$build/$part.build"/*.o; done >"$work/objects"
printf '%s\n' "${snippets[@]}" | shuf -n "$count" | xargs -d '\n' -P "$(nproc)" -I {} bash -c 'with_settings run {}'
echo "$count snippets run, with three kinds of settings"
