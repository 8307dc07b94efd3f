#!/bin/bash
# Compares an echo server on one loop with one on two, and with two servers of one loop each, which share nothing but the
# port: what those gain is what the machine allows. Two load generators keep each busy, and each of them has connections
# to both loops or servers. Two servers at a port each show what it gains when each generator has a server of its own,
# since the two may then stay on one core. Prints a Markdown table of medians of interleaved rounds. `--quick` runs
# fewer and shorter ones.
. "$(dirname "$0")/common.sh"

rounds=11 round_trips=200000 connections=100
if [[ ${1-} == --quick ]]; then rounds=5 round_trips=40000; fi

swift_build --package-path ../../Examples --product EchoServer
build_load
server=(../../Examples/.build/release/EchoServer --port 0 --backlog 4096)

results=.build/loops.txt
: >"$results"
ticks_per_second=$(getconf CLK_TCK)

# The CPU time that processes have taken, in ticks.
ticks() {
    local fields sum=0 pid
    for pid in "$@"; do
        read -r -a fields <"/proc/$pid/stat"
        sum=$((sum + fields[13] + fields[14]))
    done
    echo "$sum"
}

# measure CASE PORT PORT PID...    the ports of the two load generators, and the servers
measure() {
    local title=$1 ports=("$2" "$3") before after start end pids=()
    shift 3
    before=$(ticks "$@") start=${EPOCHREALTIME/./}
    for port in "${ports[@]}"; do
        "$load" --port "$port" --connections "$connections" --round-trips "$round_trips" >/dev/null &
        pids+=("$!")
    done
    for pid in "${pids[@]}"; do wait "$pid" || die "a load generator failed"; done
    end=${EPOCHREALTIME/./} after=$(ticks "$@")
    awk -v title="$title" -v n=$((2 * round_trips)) -v us=$((end - start)) -v ticks=$((after - before)) \
        -v hz="$ticks_per_second" \
        'BEGIN { printf "%s|%.0f|%.0f\n", title, ticks / hz * 1e9 / n, n / (us / 1e6) }' >>"$results"
}

for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds" >&2
    for loops in 1 2; do
        start_server "${server[@]}" --loops "$loops"
        measure "$loops" "$port" "$port" "$server_pid"
        stop_server
    done
    for ports in shared own; do
        start_server "${server[@]}" --share-port
        first_port=$port first_pid=$server_pid first_output=$server_output
        [[ $ports == own ]] || second=(--port "$port")
        [[ $ports == shared ]] || second=()
        start_server "${server[@]}" --share-port "${second[@]}"
        trap 'kill "$server_pid" "$first_pid"' EXIT
        measure "$ports" "$first_port" "$port" "$first_pid" "$server_pid"
        stop_server
        server_pid=$first_pid server_output=$first_output
        stop_server
    done
done

median() { grep "^$1|" "$results" | cut -d '|' -f "$2" | sort -n | sed -n "$(((rounds + 1) / 2))p"; }
ratio() { awk "BEGIN { printf \"%.2f\", $(median "$1" "$2") / $(median shared "$2") }"; }
row() { echo "| $2 | $(median "$1" 2) | $(ratio "$1" 2) | $(median "$1" 3) | $(ratio "$1" 3) |"; }
cat <<END
| | CPU ns per message | ÷ two servers | messages per second | ÷ two servers |
|---|--:|--:|--:|--:|
$(row 1 "one loop")
$(row 2 "two loops")
$(row shared "two servers at one port")
$(row own "two servers at a port each")

Medians of $rounds interleaved rounds; $((2 * connections)) connections, messages of 64 bytes; $(nproc) cores, which the two load
generators share with the server.
END
