#!/bin/bash
# An idle loop makes no system call and takes no processor time, whatever ran on it before: runs each kind of program of
# Tests/Programs/Idle, and counts what its main thread asks of the system while it has nothing to do.
# usage: quiet.sh BUILD-DIRECTORY MILLISECONDS
set -euo pipefail
export SWIFT_BACKTRACE=enable=no
build=$1 milliseconds=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in Idle IdleMain; do
    swiftc -O -parse-as-library -swift-version 6 -use-ld=lld -I "$build/Modules" -I Sources/CLibUV -I Sources/CFuturesSystem -I Sources/CFuturesRuntime \
        $(pkg-config --cflags libuv) "Tests/Programs/Idle/$program.swift" \
        "$build"/{Futures,ByteStreams,SystemIO,UVFutures}.build/*.o -o "$work/$program" $(pkg-config --libs libuv)
done

tracer=(strace -o "$work/calls")
if ! strace -o "$work/none" true 2>/dev/null; then
    tracer=()
    echo "system calls are not counted: strace is missing, or may not trace"
fi

failed=0
# quiet PROGRAM KIND
quiet() {
    local taken calls=0
    taken=$(timeout 60 "${tracer[@]}" "$work/$1" "$2" "$milliseconds" 2>"$work/words") ||
        { echo "$2: $(<"$work/words")" >&2; failed=1; return; }
    [ -z "${tracer[*]}" ] || calls=$(awk '/^write\(2, "over/ { exit } counts { n++ } /^write\(2, "idle/ { counts = 1 } END { print n + 0 }' "$work/calls")
    [ -n "${tracer[*]}" ] || calls=uncounted
    echo "$2: $calls system calls and $taken ms of processor time in $milliseconds ms"
    # To hand new descriptors to the system, to take the time, to wait.
    ((${calls/uncounted/0} <= 12 && taken <= 10)) || { echo "$2: the loop is not idle" >&2; failed=1; }
}

for kind in nothing body another task dispatch server runMain attached; do quiet Idle "$kind"; done
quiet IdleMain asyncMain
exit $failed
