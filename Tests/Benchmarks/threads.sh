#!/bin/bash
# Prints what submissions of other threads and awaits cost, beside the peers. `--quick` runs fewer.
. "$(dirname "$0")/common.sh"

samples=.build/threads.jsonl
rm -f "$samples"
figures=()
for figure in submit submit-8-threads submit-bursts await-{completed,pending}{,-outside}; do figures+=(--figure "$figure"); done
./micro.sh "$@" "$samples" --curve-rounds 0 "${figures[@]}"
Runner/table.py "$samples"
