#!/bin/bash
# The suite on the libuv inside a source archive of uvloop, built once into an ignored folder.
# usage: test-newest.sh UVLOOP LIBUV FLAGS...
set -euo pipefail
uvloop=$1 libuv=$2 root=$PWD/.build-libuv-$2

if [ ! -e "$root/lib/pkgconfig/libuv.pc" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m pip download --quiet --no-deps --no-binary uvloop --dest "$work" "uvloop==$uvloop"
    tar -xzf "$work/uvloop-$uvloop.tar.gz" -C "$work"
    (
        cd "$work/uvloop-$uvloop/vendor/libuv"
        [ -x configure ] || ./autogen.sh
        ./configure --quiet --disable-static --prefix="$root" CC=clang
        make --silent install
    ) >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
fi

export PKG_CONFIG_PATH=$root/lib/pkgconfig LD_LIBRARY_PATH=$root/lib EXPECT_LIBUV=$libuv
swift test --scratch-path "$root/suite" "${@:3}" | tee "$root/log"
grep -q 'Test "the libuv that runs is the one expected" passed' "$root/log"
