#!/bin/bash
# Fails when a loop of `flatMap`s grows, when the task of an idle connection grows, when a simulated network is slow, or when
# an operation or a round trip costs more than thresholds.txt allows. What is counted repeats from run to run, as times do
# not, but only for one toolchain: with another it is printed.
. "$(dirname "$0")/common.sh"

swift_build
build_counter
build_load

few=$(live_blocks .build/release/FlatMapLoop 1000)
many=$(live_blocks .build/release/FlatMapLoop 1000000)
echo "live blocks in a loop of flatMaps: $few after 1,000 steps, $many after 1,000,000"
((many <= few + 100)) || die "a loop of flatMaps grows"

# A task that waits in a body takes one block of memory of the runtime's. A second would be 1,024 bytes.
start_server .build/release/Echo --read sequence
idle=$("$load" --port "$port" --server-pid "$server_pid" --idle --connections 500 |
    grep -oP '"bytesPerConnection":\K\d+')
stop_server
echo "an idle connection of a body: $idle bytes"
((idle <= 2816)) || die "the task of a body takes more than one block of memory"

# The best of five: what runs beside it takes its share of the caches. A thousand simulated seconds in one of CPU time are what
# a machine shall do that needs 500 ns for one of the operations beside it. One that is slower today needs more for both.
best() { sort -n -k "$1" <<<"$measured" | head -n 1 | cut -d ' ' -f "$1"; }
measured=$(for _ in {1..5}; do
    echo "$(.build/release/Micro simulated-messages 250000 | cut -d ' ' -f 2) $(.build/release/Micro completion-order 300000 | cut -d ' ' -f 2)"
done)
message=$(best 1) order=$(best 2)
awk "BEGIN { printf \"five hosts with a message every 10 ms each: %d simulated seconds in a second of CPU time\\n\", 1e9 / ($message * 500) }"
awk "BEGIN { exit !($message <= 4 * $order) }" || die "a simulated network is too slow: $message ns a message, $order ns to order a completion"

# As many at a time as there are processors: what is counted is the same beside something else.
: >.build/exceeded
grep '^[a-z].* [0-9]' thresholds.txt | grep -v '^toolchain' |
    awk '{ print $1, "allocations", $2; print $1, "instructions", $3 }' | xargs -P "$(nproc)" -L 1 ./hold.sh

swift_version=$(swift --version 2>/dev/null | grep -o 'Swift version [0-9.]*')
toolchain="$swift_version, $(getconf GNU_LIBC_VERSION), $(uname -m)"
limits_for=$(sed -n 's/^toolchain: //p' thresholds.txt)
if [[ $toolchain != "$limits_for" ]]; then
    echo "not held against these limits, which are for $limits_for: this is $toolchain"
elif [[ -s .build/exceeded ]]; then
    cat .build/exceeded >&2
    die "an operation costs more than it did"
fi
