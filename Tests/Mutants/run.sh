#!/bin/bash
# Breaks the core as mutants.txt says, one mutant at a time in a copy, and expects its suite to notice each.
# A suite that hangs has noticed; a mutant that does not compile proves nothing, and is as bad as a survivor.
# usage: run.sh [TEXT]    only the mutants whose name contains it
set -euo pipefail
cd "$(dirname "$0")/../.."

flags=(-Xswiftc -use-ld=lld)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
cd "$copy"

build() { swift build --build-tests "${flags[@]}" </dev/null >log 2>&1; }

# The test binary itself, since `swift test` does not take a hanging one down with it.
# Some mutants never stop to allocate, and a crash has no need of a backtrace.
suite() (
    ulimit -v 8000000
    export SWIFT_BACKTRACE=enable=no
    exec timeout -k 5 120 .build/debug/*.xctest --testing-library swift-testing --filter '^FuturesTests\.' \
        </dev/null >log 2>&1
)

# Applies one mutant, and undoes it. Sets `verdict`.
try() {
    local original mutated
    original=$(<"$file") mutated=${original/"$old"/"$new"}
    if [ -z "$old" ] || [[ $original != *"$old"* ]]; then verdict="NOT FOUND"; return; fi
    if [[ ${original#*"$old"} == *"$old"* ]]; then verdict="FOUND TWICE"; return; fi
    printf '%s\n' "$mutated" >"$file"
    if ! build; then verdict="DOES NOT COMPILE"
    elif { suite; } 2>/dev/null; then verdict=SURVIVED
    else verdict=killed
    fi
    printf '%s\n' "$original" >"$file"
}

if ! build || ! suite; then cat log >&2; echo "the suite fails without a mutant" >&2; exit 1; fi

faults=0 total=0 name='' file='' old='' new=''
finish() {
    [ -n "$name" ] && [[ $name == *"${1-}"* ]] || return 0
    local start=$SECONDS
    try
    printf '%-17s %4d s  %s\n' "$verdict" $((SECONDS - start)) "$name"
    total=$((total + 1))
    [ "$verdict" = killed ] || faults=$((faults + 1))
}
while IFS= read -r line; do
    case $line in
        '#'*) ;;
        '= '*) finish "$@"; name=${line#= } file='' old='' new='' ;;
        '-'*) old+=${old:+$'\n'}${line#-} ;;
        '+'*) new+=${new:+$'\n'}${line#+} ;;
        ?*) file=$line ;;
    esac
done <Tests/Mutants/mutants.txt
finish "$@"
echo "$total mutants, $faults not killed"
[ "$total" -gt 0 ] && [ "$faults" = 0 ]
