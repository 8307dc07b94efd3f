# Sourced by the scripts beside it that use a server among the examples, at the port that it says.
set -euo pipefail

bin=Examples/.build/release
work=$(mktemp -d)
server=
# What else ends with the script.
others=()
trap 'rm -rf "$work"; kill $server "${others[@]}" 2>/dev/null || true' EXIT

fail() {
    echo "$example: $*" >&2
    exit 1
}

# Starts a server and waits for its line; sets `server`, `host` and `port`. `wrapped` is what is to start it.
wrapped=()
start() {
    : >"$work/out"
    "${wrapped[@]}" "$bin/$example" --port 0 "$@" >>"$work/out" 2> >(tee "$work/complaints" >&2) &
    server=$!
    local line
    line=$(timeout 10 grep -m1 '^listening on ' <(tail -n +1 -f --pid=$server "$work/out")) ||
        fail "does not say where it listens"
    port=${line##*:} host=${line#listening on } host=${host%:*}
}

# Sends a signal and expects the end within so many seconds, with status 0 and a last word.
# usage: stop SIGNAL SECONDS [what to do in between]
stop() {
    local said
    said=$(wc -l <"$work/out")
    kill "$1" "$server"
    if [ $# = 3 ]; then "$3"; fi
    timeout "$2" tail --pid=$server -f /dev/null || fail "still runs $2 s after the signal"
    wait $server || fail "ended with status $?"
    server=
    [ "$(wc -l <"$work/out")" -gt "$said" ] || fail "does not say what it did"
}

# Has the server report until it says a line like that: a client sees the end of its connection before the server has
# counted it.
expect_report() {
    timeout 10 bash -c 'until grep -q "$1" "$2"; do kill -USR1 "$3"; done' - "$1" "$work/out" "$server"
}
