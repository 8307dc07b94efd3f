#!/bin/bash
# What a kernel before Linux 5.9 lacks for child processes is an error with a sentence: no process, no zombie and no
# descriptor is left.
# usage: old-kernels.sh BUILD-DIRECTORY
set -euo pipefail
export SWIFT_BACKTRACE=enable=no
build=$1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
swiftc -O -parse-as-library -swift-version 6 -use-ld=lld -I "$build/Modules" -I Sources/CLibUV -I Sources/CFuturesSystem -I Sources/CFuturesRuntime \
    $(pkg-config --cflags libuv) Tests/Programs/Process/Start.swift \
    "$build"/{Futures,ByteStreams,SystemIO,UVFutures}.build/*.o -o "$work/Start" $(pkg-config --libs libuv)

failed=0
# usage: expect TEXT STRACE-OPTIONS...
expect() {
    local said text="$1
no child is left
no descriptor is left"
    shift
    said=$(timeout 60 strace -f -qq -o "$work/calls" "$@" "$work/Start" 2>&1) || true
    if [ "$said" != "$text" ]; then
        printf 'old-kernels.sh: with %s:\n%s\nand not:\n%s\n' "$*" "$said" "$text" >&2
        failed=1
    fi
}

expect started
# The threads of the C library are made by another call.
expect "cannot start /bin/echo: the system cannot make a process: ENOSYS, function not implemented; run on Linux 5.9 or newer" \
    -e inject=clone:error=ENOSYS
expect "cannot start /bin/echo: it cannot be kept from inheriting descriptors: ENOSYS, function not implemented; run on \
Linux 5.9 or newer" -e inject=close_range:error=ENOSYS
((failed)) || echo "a kernel that lacks clone for a descriptor, or close_range, is told so"
exit $failed
