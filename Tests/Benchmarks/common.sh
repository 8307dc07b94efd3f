# Sourced by the scripts beside it.

set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")"

# In CI the examples have built the library. Who finds it by the same path and builds in the same place does not build it again.
[ -z "${CI-}" ] || [ -e .build ] || { mkdir -p ../../Examples/.build && ln -sfn ../../Examples/.build .build; }
mkdir -p .build/c
load=.build/c/load
# Where a measurement puts files of its own.
export scratch=.build

# What counts and measures single operations; Runner/micro.py knows of more.
declare -A micro=(
    [ours]=.build/release/Micro
    [SwiftNIO]=.build/nio/release/NIOMicro
)

die() {
    echo "$0: $*" >&2
    exit 1
}

swift_build() {
    swift build -c release -Xswiftc -use-ld=lld --scratch-path "${scratch_path-$(readlink -f .build)}" "$@" >&2
}
build_counter() { clang -O2 -shared -fPIC -o .build/c/count-allocations.so Tools/count-allocations.c; }
build_micro() {
    swift_build
    clang -O2 -Wall -Wextra -o .build/c/micro Peers/C/micro.c $(pkg-config --cflags --libs libuv)
}
build_nio() { scratch_path=.build/nio swift_build --package-path Peers/SwiftNIO; }
build_load() { clang -O2 -o "$load" Tools/Load/*.c -lssl -lcrypto; }
# Peers that are not there are left out by who asks for them.
build_asynchronous() {
    swift_build --package-path Asynchronous --scratch-path .build/asynchronous
    if type cargo &>/dev/null; then
        # Debian's crates, and nothing from elsewhere.
        cargo build --quiet --release --offline --manifest-path Peers/Tokio/Cargo.toml --target-dir .build/tokio \
            --config 'source.crates-io.replace-with="debian"' \
            --config 'source.debian.directory="/usr/share/cargo/registry"' >&2
    fi
    if type go &>/dev/null; then GOCACHE=$PWD/.build/go/cache go build -o .build/go/echo Peers/Go/echo.go; fi
}
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
    LD_PRELOAD=.build/c/count-allocations.so "$@" 2>"$scratch/stderr" >/dev/null || die "$*: $(cat "$scratch/stderr")"
    sed -n 's/^allocations //p' "$scratch/stderr"
}
live_blocks() {
    allocations "$@" >/dev/null
    sed -n 's/^live //p' "$scratch/stderr"
}
instructions() {
    "${callgrind[@]}" $(stripped "$@") >/dev/null || die "$* failed"
    collected
}

callgrind=(valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=%q{scratch}/callgrind.log)
collected() { sed -n 's/.*Collected : //p' "$scratch/callgrind.log"; }

# Debian 12's valgrind gives up on the debug information that Swift writes, so this is a command without it.
stripped() {
    strip --strip-debug -o "$scratch/stripped" "$1"
    echo "$scratch/stripped" "${@:2}"
}

# per_operation allocations|instructions PEER FIGURE: what an operation takes, start-up and warm-up left out.
per_operation() {
    local few=2000 more=10000 short long
    case $3 in
    group) few=5000 ;;
    # The cost in a heap of 10,000 to 20,000.
    timer-fire) few=10000 ;;
    # Threads that wait for each other are not quite repeatable.
    submit-bursts) few=10000 more=50000 ;;
    esac
    short=$("$1" ${micro[$2]} "$3" "$few")
    long=$("$1" ${micro[$2]} "$3" $((few + more)))
    awk "BEGIN { printf \"%.2f\", ($long - $short) / $more }"
}

# per_round_trip allocations|instructions SHORT LONG COMMAND...: what a round trip of 64 bytes takes a server in user
# space, with one connection and one message at a time.
per_round_trip() {
    local taken=() messages=() count
    for count in "$2" "$3"; do
        case $1 in
        instructions) start_server "${callgrind[@]}" $(stripped "${@:4}") ;;
        allocations) start_server env LD_PRELOAD="$PWD/.build/c/count-allocations.so" "${@:4}" 2>"$scratch/stderr" ;;
        esac
        messages+=("$("$load" --port "$port" --connections 1 --lines --round-trips "$count" | grep -oP '"messages":\K\d+')")
        stop_server
        case $1 in
        instructions) taken+=("$(collected)") ;;
        allocations) taken+=("$(sed -n 's/^allocations //p' "$scratch/stderr")") ;;
        esac
    done
    awk "BEGIN { printf \"%.2f\", (${taken[1]} - ${taken[0]}) / (${messages[1]} - ${messages[0]}) }"
}
