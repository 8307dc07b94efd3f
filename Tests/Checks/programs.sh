#!/bin/bash
# Compiles and runs each program of a folder, and compares what it prints with the file of the same name that ends
# in .txt. Where that begins with "trap: ", the program has to crash and to say what follows. No expression may take
# the type checker more than 100 ms, at the best of three times: the machine may be busy.
# usage: programs.sh BUILD-DIRECTORY FOLDER MINIMUM [FLAGS...]
set -euo pipefail
build=$1 folder=$2 minimum=$3
shift 3
flags=("$@")
shopt -s nullglob

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {
    local library=()
    grep -q '^@main' "$1" && library=(-parse-as-library)
    swiftc "${library[@]}" "${flags[@]}" -swift-version 6 -warnings-as-errors -diagnostic-style llvm -use-ld=lld \
        -Xfrontend -warn-long-expression-type-checking=100 -I "$build/Modules" \
        -I Sources/CLibUV -I Sources/CRuntime -I Sources/CTLS $(pkg-config --cflags libuv) \
        "$1" "$build"/{Futures,ByteStreams,UVFutures}.build/*.o -o "$work/program" \
        $(pkg-config --libs libuv) 2>"$work/complaints"
}

compiles() {
    for _ in 1 2 3; do
        compile "$1" && return
        grep -q 'took .*ms to type-check' "$work/complaints" || break
    done
    return 1
}

failed=0 count=0
refuse() {
    echo "$1: $2" >&2
    failed=1
}
for program in "$folder"/*.swift; do
    count=$((count + 1))
    expected=${program%.swift}.txt status=0
    if ! compiles "$program"; then
        refuse "$program" "does not compile:"
        cat "$work/complaints" >&2
        continue
    fi
    SWIFT_BACKTRACE=enable=no timeout 60 "$work/program" >"$work/output" 2>&1 </dev/null || status=$?
    if [[ $(<"$expected") == "trap: "* ]]; then
        ((status > 128)) && grep -qF -- "$(sed -n '1s/^trap: //p' "$expected")" "$work/output" ||
            refuse "$program" "ended with $status and printed: $(<"$work/output")"
    elif ((status)); then
        refuse "$program" "ended with $status and printed: $(<"$work/output")"
    else
        diff "$expected" "$work/output" >&2 || refuse "$program" "printed something else"
    fi
done
((count >= minimum)) || refuse "$folder" "only $count programs were found"
echo "$folder: $count programs compile and run"
exit $failed
