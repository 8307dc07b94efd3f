#!/bin/bash
# Breaks the core as mutants.txt says, one mutant at a time in a copy, and expects its suite to notice each.
# A suite that hangs for five minutes has noticed, and is named so, since a slow machine looks the same; a mutant that
# does not compile proves nothing, and is as bad as a survivor.
# usage: run.sh [NAMES]    only the mutants whose name matches that expression
#        run.sh --find     only whether the text of each occurs once
set -euo pipefail
cd "$(dirname "$0")/../.."

only_find='' names=${1-}
if [ "$names" = --find ]; then only_find=yes names=''; fi

flags=(-Xswiftc -use-ld=lld)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
cd "$copy"

build() { swift build --build-tests "${flags[@]}" </dev/null >log 2>&1; }

# The test binary itself, since `swift test` does not take a hanging one down with it.
# Some mutants never stop to allocate, and a crash has no need of a backtrace.
# usage: suite [TYPES]    only the tests of the types that begin so
suite() (
    ulimit -v 8000000
    export SWIFT_BACKTRACE=enable=no
    exec timeout -k 5 300 .build/debug/*.xctest --testing-library swift-testing \
        --filter "^(Futures|UVFutures|ByteStreams)Tests\.(${1-})" </dev/null >log 2>&1
)

# Applies one mutant, and undoes it. Sets `verdict`.
try() {
    local original mutated
    original=$(<"$file") mutated=${original/"$old"/"$new"}
    if [ -z "$old" ] || [[ $original != *"$old"* ]]; then verdict="NOT FOUND"; return; fi
    if [[ ${original#*"$old"} == *"$old"* ]]; then verdict="FOUND TWICE"; return; fi
    if [ "$only_find" ]; then verdict=found; return; fi
    printf '%s\n' "$mutated" >"$file"
    if ! build; then verdict="DOES NOT COMPILE"
    elif { suite "$types" && suite; } 2>/dev/null; then verdict=SURVIVED
    elif [ $? = 124 ]; then verdict=hung
    else verdict=killed
    fi
    printf '%s\n' "$original" >"$file"
}

list=Tests/Mutants/mutants.txt
fail() { cat log >&2; echo "the suite fails without a mutant" >&2; exit 1; }
if [ -z "$only_find" ]; then
    build || fail
    for types in '' $(sed -n 's/^~ //p' "$list"); do suite "$types" || fail; done
fi

faults=0 total=0 types='' name='' file='' old='' new=''
finish() {
    [ -n "$name" ] && [[ $name =~ $names ]] || return 0
    local start=$SECONDS
    try
    total=$((total + 1))
    [ "$verdict" = found ] && return
    printf '%-17s %4d s  %s\n' "$verdict" $((SECONDS - start)) "$name"
    [ "$verdict" = killed ] || [ "$verdict" = hung ] || faults=$((faults + 1))
}
while IFS= read -r line; do
    case $line in
        '#'*) ;;
        '~ '*) finish; name='' types=${line#'~ '} ;;
        '= '*) finish; name=${line#= } file='' old='' new='' ;;
        '-'*) old+=${old:+$'\n'}${line#-} ;;
        '+'*) new+=${new:+$'\n'}${line#+} ;;
        ?*) file=$line ;;
    esac
done <"$list"
finish
if [ "$only_find" ]; then aim=found; else aim=killed; fi
echo "$total mutants, $faults not $aim"
[ "$total" -gt 0 ] && [ "$faults" = 0 ]
