# Sourced: makes the libuv inside a source archive of uvloop the one that is built with and run, built once into an
# ignored folder.
# usage: . newest-libuv.sh UVLOOP LIBUV
newest_libuv() {
    local uvloop=$1 libuv=$2 root=$PWD/.build-libuv-$2 work
    if [ ! -e "$root/lib/pkgconfig/libuv.pc" ]; then
        work=$(mktemp -d)
        python3 -m pip download --quiet --no-deps --no-binary uvloop --dest "$work" "uvloop==$uvloop"
        tar -xzf "$work/uvloop-$uvloop.tar.gz" -C "$work"
        (
            cd "$work/uvloop-$uvloop/vendor/libuv"
            [ -x configure ] || ./autogen.sh
            ./configure --quiet --disable-static --prefix="$root" CC=clang
            make --silent -j "$(nproc)" install
        ) >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
        rm -rf "$work"
    fi
    export PKG_CONFIG_PATH=$root/lib/pkgconfig LD_LIBRARY_PATH=$root/lib EXPECT_LIBUV=$libuv
}

# The compiler keeps what it has made of a C library's headers, even for headers from elsewhere.
forget_libuv() { find .build*/ -name 'CLibUV-*.pcm' -delete; }

newest_libuv "$@"
