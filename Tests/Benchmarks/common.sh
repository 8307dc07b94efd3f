# Sourced by the scripts beside it.

set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")"

mkdir -p .build/c
load=.build/c/load

declare -A map_chain=(
    [ours]=.build/release/MapChain
    [SwiftNIO]=.build/nio/release/NIOMapChain
)

die() {
    echo "$0: $*" >&2
    exit 1
}

swift_build() { swift build -c release -Xswiftc -use-ld=lld "$@" >&2; }
build_map_chain() {
    swift_build
    clang -O2 -shared -fPIC -o .build/c/count-allocations.so Tools/count-allocations.c
}
build_nio() { swift_build --package-path Peers/SwiftNIO --scratch-path .build/nio; }
build_load() { clang -O2 -o "$load" Tools/Load/*.c; }
build_echo() {
    swift_build --product Echo
    clang -O2 -o .build/c/echo Peers/C/echo.c $(pkg-config --cflags --libs libuv)
    clang -O2 -o .build/c/epoll Peers/C/epoll.c
    build_load
}

# Starts a command that is a server, picks a port and prints `listening on HOST:PORT`; it ends with this shell at the
# latest. Sets server_pid and port.
start_server() {
    exec {server_output}< <(exec "$@")
    server_pid=$!
    trap 'kill "$server_pid"' EXIT
    while read -r line <&"$server_output"; do
        port=${line##*:}
        [[ $line != "listening on "* ]] || return 0
    done
    die "$* did not say that it listens"
}

stop_server() {
    trap - EXIT
    kill "$server_pid"
    wait "$server_pid" || true
    exec {server_output}<&-
}

# What a run of a command took. Where start-up does not count, subtract a short run from a long one.
allocations() {
    LD_PRELOAD=.build/c/count-allocations.so "$@" 2>.build/stderr >/dev/null || die "$*: $(cat .build/stderr)"
    sed -n 's/^allocations //p' .build/stderr
}
live_blocks() {
    allocations "$@" >/dev/null
    sed -n 's/^live //p' .build/stderr
}
instructions() {
    "${callgrind[@]}" $(stripped "$@") >/dev/null || die "$* failed"
    collected
}

callgrind=(valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=.build/callgrind.log)
collected() { sed -n 's/.*Collected : //p' .build/callgrind.log; }

# Debian 12's valgrind gives up on the debug information that Swift writes, so this is a command without it.
stripped() {
    strip --strip-debug -o .build/stripped "$1"
    echo .build/stripped "${@:2}"
}

# per_map allocations|instructions PEER: the cost of one `map`, from chains of ten.
per_map() {
    local short long
    short=$("$1" "${map_chain[$2]}" 1000)
    long=$("$1" "${map_chain[$2]}" 3000)
    awk "BEGIN { printf \"%.2f\", ($long - $short) / 20000 }"
}
