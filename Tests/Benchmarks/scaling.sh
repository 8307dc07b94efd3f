#!/bin/bash
# Fails when ten times as many futures in a group, timers in a loop or listeners of a future take more than twelve times
# the instructions.
# usage: scaling.sh [SIZE]                     of the larger ones
#        scaling.sh SIZE TITLE COMMAND...      of one command, which takes the size
. "$(dirname "$0")/common.sh"

size=${1:-20000}

if (($# > 1)); then
    scratch=$(mktemp -d .build/scaling.XXX)
    trap 'rm -r "$scratch"' EXIT
    few=$(instructions "${@:3}" $((size / 10)))
    many=$(instructions "${@:3}" "$size")
    echo "$2 of $((size / 10)): $few instructions; of $size: $many"
    ((many <= 12 * few)) || die "$2: it takes more time than in proportion to its size"
    exit
fi

swift_build --product GroupSizes
swift_build --product Micro
{
    .build/release/GroupSizes | sed 's|.*|& .build/release/GroupSizes &|'
    echo "timers .build/release/Micro one-timer-heap"
    echo "listeners .build/release/Micro one-listener-list"
} | xargs -P "$(nproc)" -L 1 ./scaling.sh "$size"
