#!/bin/bash
# Compares with the peers and prints a Markdown table: medians of interleaved rounds, and the medians of the
# ratios within a round. `--quick` runs fewer and shorter rounds.
. "$(dirname "$0")/common.sh"

rounds=41 round_trips=40000 chains=20000
if [[ ${1-} == --quick ]]; then rounds=9 round_trips=20000; fi

build_map_chain
build_echo
build_nio

results=.build/results.jsonl
: >"$results"

# record FIGURE PEER ROUND VALUE
record() {
    jq -nc '$ARGS.named' >>"$results" \
        --arg figure "$1" --arg peer "$2" --argjson round "$3" --argjson value "$4"
}

measure_map() {
    record "\`map\`, ns" "$1" "$2" "$(taskset -c 0 "${map_chain[$1]}" "$chains")"
}

# measure_echo PEER ROUND TITLE OPTION...
measure_echo() {
    local peer=$1 round=$2 title=$3 result
    start_server taskset -c 0 ${server[$peer]}
    result=$(taskset -c 1 "$load" --port "$port" --server-pid "$server_pid" \
        --round-trips "$round_trips" "${@:4}")
    stop_server
    record "echo $title, CPU ns per round trip" "$peer" "$round" "$(jq .cpuNanoseconds <<<"$result")"
    record "echo $title, round trips per second" "$peer" "$round" "$(jq .perSecond <<<"$result")"
    record "echo $title, latency p99 µs" "$peer" "$round" "$(jq .p99Microseconds <<<"$result")"
}

for peer in "${!map_chain[@]}"; do
    record "\`map\`, allocations" "$peer" 0 "$(per_map allocations "$peer")"
done
for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds" >&2
    for peer in "${!map_chain[@]}"; do measure_map "$peer" "$round"; done
    for peer in "${peers[@]}"; do measure_echo "$peer" "$round" "50 × 64 B" --size 64; done
    for peer in "${peers[@]}"; do measure_echo "$peer" "$round" "50 × 16 KiB" --size 16384; done
done

jq -rs -f table.jq "$results"
cat <<END

Medians of $rounds interleaved rounds. Chains of ten \`map\`s on a pending future; echo servers on one core,
the load generator on another.
$(lscpu | sed -n 's/^Model name: *//p'), $(nproc) cores, Linux $(uname -r).
$(swift --version 2>/dev/null | head -n 1); $(clang --version | head -n 1 | cut -d ' ' -f 1-3).
libuv $(pkg-config --modversion libuv); SwiftNIO $(grep -oP 'exact: "\K[^"]+' Peers/SwiftNIO/Package.swift).
END
