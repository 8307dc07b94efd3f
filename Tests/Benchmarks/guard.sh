#!/bin/bash
# Fails when a loop of `flatMap`s grows, or when a `map` costs more than thresholds.txt allows. These figures repeat from run to run, as times do
# not, but only for one toolchain: with another they are printed.
. "$(dirname "$0")/common.sh"

build_map_chain

few=$(live_blocks .build/release/FlatMapLoop 1000)
many=$(live_blocks .build/release/FlatMapLoop 1000000)
echo "live blocks in a loop of flatMaps: $few after 1,000 steps, $many after 1,000,000"
((many <= few + 100)) || die "a loop of flatMaps grows"

setting() { sed -n "s/^$1: //p" thresholds.txt; }

swift_version=$(swift --version 2>/dev/null | grep -o 'Swift version [0-9.]*')
toolchain="$swift_version, $(getconf GNU_LIBC_VERSION), $(uname -m)"
failed=0
for figure in allocations instructions; do
    limit=$(setting "$figure")
    value=$(per_map "$figure" ours)
    echo "$figure per map: $value (at most $limit + 2 %)"
    awk "BEGIN { exit $value > $limit * 1.02 }" || failed=1
done

if [[ $toolchain != "$(setting toolchain)" ]]; then
    echo "not held against these limits, which are for $(setting toolchain): this is $toolchain"
elif ((failed)); then
    die "a map costs more than it did"
fi
