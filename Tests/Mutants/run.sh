#!/bin/bash
# Breaks the library as mutants.txt says, one mutant at a time, and expects its suite to notice each.
#
# All is built once, in a copy. Of a mutant only its file is compiled, as SwiftPM had it compiled, and linked in place
# of the original. The other files know no more of it than the module holds without the bodies of functions, since a
# debug build inlines nothing; if that changes they would have to be compiled too, and the mutant is refused.
#
# killed        by the tests named for it
# killed late   by others
# hung          no test failed, but they took ten times the time they need; a slow machine looks the same
# Any other verdict is a fault.
# usage: run.sh [NAMES]    only the mutants whose name, with that of the tests before it, matches that expression:
#                          "^Silence: " are all those of these tests
#        run.sh --find     only whether the text of each occurs once
set -euo pipefail
cd "$(dirname "$0")/../.."

only_find='' names=${1-}
if [ "$names" = --find ]; then only_find=yes names=''; fi

workers=2

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
cd "$copy"
list=Tests/Mutants/mutants.txt

# Sets `build`, `link`, `tests` and `objects`; the commands that compile a module are in MODULE.jobs, one for each file.
build() {
    swift build --build-tests -v -Xswiftc -use-ld=lld </dev/null >log 2>&1 || return
    build=$(readlink -f .build/debug)
    tests=$(echo "$build"/*.xctest) objects=$(echo "$build"/*.product/Objects.LinkFileList)
    link=$(grep -m1 '^[^ ]*swiftc .* -emit-executable ' log)
    mkdir -p original/include
    for path in Sources/*/; do
        module=$(basename "$path")
        command=$(grep -m1 "^[^ ]*swiftc -module-name $module " log) || continue
        ${command//-incremental/} -disable-batch-mode -driver-print-jobs -driver-filelist-threshold=10000 2>/dev/null |
            sed 's/-experimental-skip-[^ ]*/-experimental-skip-all-function-bodies/' >"$module.jobs"
        job ' -emit-module ' "$copy/original" || return
    done
}

# Does one job of `module`, with a folder for what it makes.
# usage: job TEXT FOLDER [OPTION...]
job() {
    local command
    command=$(grep -m1 -Fe "$1" "$module.jobs")
    command=${command//"$build/$module.build/"/"$2/"}
    command=${command//"$build/Modules/$module."/"$2/$module."}
    eval "$command ${*:3}" </dev/null >"$2/log" 2>&1
}

# The test binary itself, since `swift test` does not take a hanging one down with it. The first failure ends it.
# Some mutants never stop to allocate, and a crash has no need of a backtrace.
# usage: suite BINARY LOG SECONDS [TYPES]    only the tests of the types that begin so
suite() {
    local pid
    (
        ulimit -v 8000000
        export SWIFT_BACKTRACE=enable=no SHRINK=0 CI=true
        exec timeout -k 5 "$3" "$1" --testing-library swift-testing ${4:+--filter "^[A-Za-z]+Tests\.($4)"}
    ) </dev/null >"$2" 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
        if grep -qF '✘' "$2"; then
            kill $pid
            break
        fi
        sleep 0.2
    done 2>/dev/null
    wait $pid
}

# Tries one mutant in a folder of its own. Sets `verdict`.
try() {
    local folder=$1 original mutated module=${file#Sources/} object=${file##*/}.o
    module=${module%%/*}
    original=$(<"$file") mutated=${original/"$old"/"$new"}
    if [ -z "$old" ] || [[ $original != *"$old"* ]]; then verdict="NOT FOUND"; return; fi
    if [[ ${original#*"$old"} == *"$old"* ]]; then verdict="FOUND TWICE"; return; fi
    if [ "$only_find" ]; then verdict=found; return; fi
    mkdir -p "$folder/include"
    printf '%s\n' "$mutated" >"$folder/mutated.swift"
    # The compiler finds it where the original is: its path goes into the object, and tests compare it.
    printf '{"version": 0, "use-external-names": false, "roots": [
        {"type": "file", "name": "%s", "external-contents": "%s"}]}' \
        "$copy/$file" "$folder/mutated.swift" >"$folder/overlay"
    local overlay=(-vfsoverlay "$folder/overlay")
    if ! job "-primary-file $copy/$file " "$folder" "${overlay[@]}" || ! job ' -emit-module ' "$folder" "${overlay[@]}"; then
        verdict="DOES NOT COMPILE"
        return
    fi
    if ! cmp -s {"$folder",original}/"$module.swiftmodule"; then verdict="NOT ONE FILE"; return; fi
    sed "s|^$build/$module.build/$object$|$folder/$object|" "$objects" >"$folder/objects"
    local command=${link/"@$objects"/"@$folder/objects"}
    eval "${command/"-o $tests"/"-o $folder/tests"}" </dev/null >"$folder/log" 2>&1 || { verdict="DOES NOT LINK"; return; }

    local status=0
    suite "$folder/tests" "$folder/log" 120 "$types" 2>/dev/null || status=$?
    if [ $status = 124 ]; then verdict=hung; return; fi
    if [ $status != 0 ]; then verdict=killed; return; fi
    suite "$folder/tests" "$folder/log" 500 2>/dev/null || status=$?
    case $status in 0) verdict=SURVIVED ;; 124) verdict=hung ;; *) verdict="killed late" ;; esac
}

# Prints the mutants that are meant, each with its tests.
selected() {
    awk '/^~ / { types = substr($0, 3) } /^= / { print types ": " substr($0, 3) }' "$list" | grep -E -e "$names" || true
}

fail() { grep -hE 'error:|✘' log original/log >&2 || true; echo "$1" >&2; exit 1; }
if [ -z "$only_find" ]; then
    build || fail "does not build without a mutant"
    # Of a few mutants, only those tests that are named for them: that the others pass is the business of `make test`.
    suites=('')
    if [ -n "$names" ]; then read -ra suites < <(selected | sed 's/: .*//' | uniq | tr '\n' ' ') || true; fi
    for types in "${suites[@]}"; do
        suite "$tests" log 1500 "$types" || fail "the suite${types:+ of $types} fails without a mutant"
    done
fi

# A worker is a line in this pipe: who reads it has its folder until it writes it back.
mkfifo idle
exec 3<>idle
seq "$workers" >&3

types='' name='' file='' old='' new=''
finish() {
    [ -n "$name" ] && [[ "$types: $name" =~ $names ]] || return 0
    read -r worker <&3
    {
        start=$SECONDS
        try "$copy/$worker"
        echo "$verdict" >>verdicts
        [ "$verdict" = found ] || printf '%-17s %4d s  %s\n' "$verdict" $((SECONDS - start)) "$name"
        echo "$worker" >&3
    } &
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
wait
total=$(wc -l <verdicts) faults=$(grep -cvE '^(found|killed|killed late|hung)$' verdicts) || true
if [ "$only_find" ]; then aim=found; else aim=killed; fi
echo "$total mutants, $faults not $aim"
[ "$total" -gt 0 ] && [ "$faults" = 0 ]
