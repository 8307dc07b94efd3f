#!/bin/bash
# Fails when a loop of `flatMap`s grows, or when an operation or a round trip costs more than thresholds.txt allows. These
# figures repeat from run to run, as times do not, but only for one toolchain: with another they are printed.
. "$(dirname "$0")/common.sh"

swift_build
build_counter
build_load

few=$(live_blocks .build/release/FlatMapLoop 1000)
many=$(live_blocks .build/release/FlatMapLoop 1000000)
echo "live blocks in a loop of flatMaps: $few after 1,000 steps, $many after 1,000,000"
((many <= few + 100)) || die "a loop of flatMaps grows"

# cost allocations|instructions FIGURE
cost() {
    case $2 in
    echo-*) per_round_trip "$1" 1000 6000 .build/release/Echo --read "${2#echo-}" ;;
    *) per_operation "$1" ours "$2" ;;
    esac
}

# hold FIGURE allocations|instructions LIMIT
hold() {
    local value
    value=$(cost "$2" "$1")
    echo "$1: $value $2 (at most $3 + 2 %)"
    # And a hundredth, which is what printing may add.
    awk "BEGIN { exit $value > $3 * 1.02 + 0.01 }" || exceeded+=("$1: $value $2, the limit is $3 + 2 %")
}

exceeded=()
while read -r figure allocations instructions <&3; do
    hold "$figure" allocations "$allocations"
    hold "$figure" instructions "$instructions"
done 3< <(grep '^[a-z].* [0-9]' thresholds.txt | grep -v '^toolchain')

swift_version=$(swift --version 2>/dev/null | grep -o 'Swift version [0-9.]*')
toolchain="$swift_version, $(getconf GNU_LIBC_VERSION), $(uname -m)"
limits_for=$(sed -n 's/^toolchain: //p' thresholds.txt)
if [[ $toolchain != "$limits_for" ]]; then
    echo "not held against these limits, which are for $limits_for: this is $toolchain"
elif ((${#exceeded[@]})); then
    printf '%s\n' "${exceeded[@]}" >&2
    die "an operation costs more than it did"
fi
