#!/bin/bash
# Prints the instructions that each echo server spends in user space on a round trip of 64 bytes.
. "$(dirname "$0")/common.sh"

build_echo
build_nio

# server_instructions PEER CONNECTIONS ROUND-TRIPS
server_instructions() {
    start_server "${callgrind[@]}" $(stripped ${server[$1]})
    "$load" --port "$port" --connections "$2" --round-trips "$3" >/dev/null
    stop_server
    collected
}

echo "| instructions per round trip | ours | C libuv | SwiftNIO |"
echo "|---|--:|--:|--:|"
for connections in 1 50; do
    row="| $connections × 64 B |"
    for peer in "${peers[@]}"; do
        short=$(server_instructions "$peer" "$connections" 2000)
        long=$(server_instructions "$peer" "$connections" 12000)
        row+=" $(((long - short) / 10000)) |"
    done
    echo "$row"
done
