#!/bin/bash
# Prints what one operation takes.
# usage: cost.sh allocations|instructions PEER FIGURE
. "$(dirname "$0")/common.sh"

[[ ($1 == allocations || $1 == instructions) && -v micro[$2] ]] || die "no such cost or peer"
per_operation "$1" "$2" "$3"
