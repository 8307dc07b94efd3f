#!/bin/bash
# Compiles and runs each program of a folder, and compares what it prints with the file of the same name that ends
# in .txt. Where that begins with "trap: ", the program has to crash and to say what follows. No expression may take
# the type checker more than 100 ms, at the best of three times: the machine may be busy.
# usage: [SETTINGS=NAME] programs.sh BUILD-DIRECTORY FOLDER MINIMUM [FLAGS...]    the file ends in .NAME.txt with other settings
set -euo pipefail
export build=$1
folder=$2 minimum=$3
shift 3
export flags="$*"
shopt -s nullglob

# SwiftPM leaves the objects of files that are gone.
for object in "$build"/{Futures,ByteStreams,SystemIO,UVFutures}.build/*.o; do
    name=${object##*/}
    [[ $name != *.swift.o ]] || [ -n "$(find Sources -name "${name%.o}" -path "*/$(basename "${object%.build/*}")/*")" ] || rm "$object"
done

compile() {
    local library=()
    grep -q '^@main' "$1" && library=(-parse-as-library)
    swiftc "${library[@]}" $flags -swift-version 6 -warnings-as-errors -diagnostic-style llvm -use-ld=lld \
        -Xfrontend -warn-long-expression-type-checking=100 -I "$build/Modules" \
        -I Sources/CLibUV -I Sources/CFuturesSystem -I Sources/CFuturesRuntime -I Sources/CFuturesTLS $(pkg-config --cflags libuv) \
        "$1" "$build"/{Futures,ByteStreams,SystemIO,UVFutures}.build/*.o -o "$work/program" \
        $(pkg-config --libs libuv) 2>"$work/complaints"
}

compiles() {
    for _ in 1 2 3; do
        compile "$1" && return 0
        grep -q 'took .*ms to type-check' "$work/complaints" || break
    done
    return 1
}

refuse() {
    echo "$1: $2" >&2
    return 1
}
check() (
    program=$1
    expected=${program%.swift}${SETTINGS:+.$SETTINGS}.txt status=0
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    compiles "$program" || refuse "$program" "does not compile: $(<"$work/complaints")"
    SWIFT_BACKTRACE=enable=no timeout 60 "$work/program" >"$work/output" 2>&1 </dev/null || status=$?
    if [[ $(<"$expected") == "trap: "* ]]; then
        ((status > 128)) && grep -qF -- "$(sed -n '1s/^trap: //p' "$expected")" "$work/output" ||
            refuse "$program" "ended with $status and printed: $(<"$work/output")"
    elif ((status)); then
        refuse "$program" "ended with $status and printed: $(<"$work/output")"
    else
        diff "$expected" "$work/output" >&2 || refuse "$program" "printed something else"
    fi
)
export -f compile compiles refuse check

programs=("$folder"/*.swift)
count=${#programs[@]}
((count >= minimum)) || refuse "$folder" "only $count programs were found"
printf '%s\0' "${programs[@]}" | xargs -0 -P "$(nproc)" -I {} bash -c 'set -eu; check {}'
echo "$folder: $count programs compile and run"
