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

# Expects that clients which have sent half of their first message make room for one that has sent all of it, in a server
# with --max-connections 2. usage: expect_room HALF WHOLE ANSWER [PORT]    texts for printf, and how the answer begins
expect_room() {
    local number line clients=()
    for number in 0 1 2; do
        exec {clients[number]}<>"/dev/tcp/$host/${4-$port}"
        if [ $number -lt 2 ]; then printf "$1" >&"${clients[number]}"; else printf "$2" >&"${clients[number]}"; fi
    done
    read -r -t 10 -u "${clients[2]}" line || fail "lets half a message keep a place of a full server"
    [[ $line == "$3"* ]] || fail "answers in a place that was made by: $line"
    for number in 0 1 2; do exec {clients[number]}>&-; done
}
