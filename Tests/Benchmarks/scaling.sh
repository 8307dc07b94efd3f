#!/bin/bash
# Fails when ten times as many futures in a group, timers in a loop or listeners of a future take more than twelve times
# the instructions.
# usage: scaling.sh [SIZE]    of the larger ones
. "$(dirname "$0")/common.sh"

swift_build --product GroupSizes
swift_build --product Micro

size=${1:-20000}
failed=0

# compare TITLE COMMAND...    which takes the size
compare() {
    local few many
    few=$(instructions "${@:2}" $((size / 10)))
    many=$(instructions "${@:2}" "$size")
    echo "$1 of $((size / 10)): $few instructions; of $size: $many"
    ((many <= 12 * few)) || failed=1
}

groups=$(.build/release/GroupSizes)
for group in $groups; do compare "$group" .build/release/GroupSizes "$group"; done
compare "timers" .build/release/Micro one-timer-heap
compare "listeners" .build/release/Micro one-listener-list
((failed == 0)) || die "something takes more time than in proportion to its size"
