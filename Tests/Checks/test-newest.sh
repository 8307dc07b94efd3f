#!/bin/bash
# The suite on the libuv inside a source archive of uvloop, built once into an ignored folder.
# usage: test-newest.sh UVLOOP LIBUV FLAGS...
set -euo pipefail
uvloop=$1 libuv=$2 root=$PWD/.build-libuv-$2

work=$(mktemp -d)
trap 'rm -rf "$work"; forget' EXIT
# The compiler keeps what it has made of a C library's headers, even for headers from elsewhere.
forget() { find .build*/ -name 'CLibUV-*.pcm' -delete; }

if [ ! -e "$root/lib/pkgconfig/libuv.pc" ]; then
    python3 -m pip download --quiet --no-deps --no-binary uvloop --dest "$work" "uvloop==$uvloop"
    tar -xzf "$work/uvloop-$uvloop.tar.gz" -C "$work"
    (
        cd "$work/uvloop-$uvloop/vendor/libuv"
        [ -x configure ] || ./autogen.sh
        ./configure --quiet --disable-static --prefix="$root" CC=clang
        make --silent -j "$(nproc)" install
    ) >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
fi

export PKG_CONFIG_PATH=$root/lib/pkgconfig LD_LIBRARY_PATH=$root/lib EXPECT_LIBUV=$libuv
forget
swift test "${@:3}" | tee "$root/log"
grep -q 'Test "libuv and its headers are of the version expected" passed' "$root/log"
