#!/bin/bash
# Prints what an operation or a round trip costs, and adds it to .build/exceeded if that is more than the limit allows.
# usage: hold.sh FIGURE allocations|instructions LIMIT
. "$(dirname "$0")/common.sh"

scratch=$(mktemp -d .build/hold.XXX)
trap 'rm -r "$scratch"' EXIT
case $1 in
echo-*) value=$(per_round_trip "$2" 1000 6000 .build/release/Echo --read "${1#echo-}") ;;
*) value=$(per_operation "$2" ours "$1") ;;
esac
echo "$1: $value $2 (at most $3 + 2 %)"
# And a hundredth, which is what printing may add.
awk "BEGIN { exit $value > $3 * 1.02 + 0.01 }" || echo "$1: $value $2, the limit is $3 + 2 %" >>.build/exceeded
