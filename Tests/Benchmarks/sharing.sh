#!/bin/bash
# Counts the atomic operations of a server on one loop and on two, for each message and each connection, by stepping
# through every instruction of its loops. Fails when two loops take more of them than one. Fails, too, when a loop does
# more of them than are listed below on memory on which the other does some: what both write, each has to wait for.
# usage: sharing.sh [WAY...]    of LoopGroup; without one, those that echo and nothing else
. "$(dirname "$0")/common.sh"

[[ $(uname -m) == x86_64 ]] || { echo "not counted: that needs an x86-64 processor" && exit; }

# The most on memory of both loops that a WAY takes for a connection. The number of a task is the Swift runtime's, as is
# the table in which a body's end looks two types up. A job of the pool and a look-up go to threads that all loops share.
declare -A shared=([bodies]=5 [pool]=30 [names]=90 [clients]=50)

swift_build --product LoopGroup
clang -O2 -Wall -Wextra -o .build/c/atomics Tools/Atomics/*.c

(($#)) || set -- chunks spans reads bodies
echo "atomic operations              one loop  two loops  on memory of both"
for way in "$@"; do
    for loops in 1 2; do
        start_server .build/release/LoopGroup "$loops" "$way"
        .build/c/atomics "$server_pid" "$port" 8 6 >".build/atomics-$loops" || die "$way could not be counted"
        # The server ends with what has stepped through it.
        trap - EXIT
        wait "$server_pid" || true
        exec {server_output}<&-
    done
    paste -d ' ' .build/atomics-{1,2} | awk -v way="$way" -v most="${shared[$way]:-0}" '
        { printf "%-30s %8.1f %10.1f %18.1f\n", way ", each " $1, $2, $5, $6 }
        $5 > $2 * 1.1 || $6 > most { failed = 1 }
        END { exit failed }' || die "$way: loops take more beside others than alone"
done
