#!/bin/bash
# Fails when a group of ten times as many futures takes more than twelve times the instructions.
# usage: scaling.sh [SIZE]    of the larger groups
. "$(dirname "$0")/common.sh"

swift_build --product GroupSizes

size=${1:-20000}
failed=0
for group in $(.build/release/GroupSizes); do
    few=$(instructions .build/release/GroupSizes "$group" $((size / 10)))
    many=$(instructions .build/release/GroupSizes "$group" "$size")
    echo "$group of $((size / 10)): $few instructions; of $size: $many"
    ((many <= 12 * few)) || failed=1
done
((failed == 0)) || die "a group takes more time than in proportion to its size"
