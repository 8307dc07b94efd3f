#!/bin/bash
# What replaces a file durably leaves the old contents or the new ones, and never neither: when the process is killed at any
# of its system calls, and when one of them fails. And the calls come in the order that makes it durable.
# usage: replace.sh BUILD-DIRECTORY
set -euo pipefail
export SWIFT_BACKTRACE=enable=no
build=$1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
swiftc -O -swift-version 6 -use-ld=lld -I "$build/Modules" -I Sources/CLibUV -I Sources/CFuturesSystem -I Sources/CFuturesRuntime \
    $(pkg-config --cflags libuv) Tests/Programs/Disk/Replace.swift \
    "$build"/{Futures,ByteStreams,SystemIO,UVFutures}.build/*.o -o "$work/Replace" $(pkg-config --libs libuv)

failed=0
refuse() {
    echo "replace.sh: $*" >&2
    failed=1
}
# run STRACE-OPTIONS...: a replacement of "old", under strace; its words are in $said, what is there after it in $now and $names.
run() {
    rm -rf "$work/directory"
    mkdir "$work/directory"
    printf old >"$work/directory/a"
    said=$(timeout 60 strace -f -qq -o "$work/calls" "$@" "$work/Replace" "$work/directory" 2>&1) || true
    now=$(<"$work/directory/a")
    names=$(ls -A "$work/directory")
}
expect() { [[ $said == *"$1"* && $now == "$2" && $names == a ]] || refuse "$3: '$said', '$now' in: $names"; }

run
expect replaced new "a replacement"
# What the thread of the pool asks for, without the numbers of descriptors.
thread=$(awk '/renameat\(/ { print $1; exit }' "$work/calls")
sed -n "s/^$thread *\([a-z0-9_]*\)(.*/\1/p" "$work/calls" >"$work/order"
order=$(grep -E '^(pwrite64|fsync|renameat)$' "$work/order" | tr '\n' ' ')
[[ $order == "pwrite64 fsync renameat fsync " ]] || refuse "the calls come as: $order"

# strace counts the calls of each name, and of each thread.
kills=0
while read -r count call; do
    for ((number = 1; number <= count; number++)); do
        run -e inject="$call:signal=KILL:when=$number"
        [[ $now == old || $now == new ]] || refuse "killed at $call number $number, it leaves '$now'"
        kills=$((kills + 1))
    done
done < <(sort "$work/order" | uniq -c)
((kills >= 15)) || refuse "only $kills system calls were found: $(<"$work/order")"

for error in EIO ENOSPC; do
    for call in pwrite64 fchmod fsync renameat; do
        run -e inject="$call:error=$error:when=1"
        expect "$error" old "$call that fails with $error"
    done
done
run -e inject=fsync:error=EIO:when=2
expect "fsync EIO" new "a directory that cannot be synchronised"

for error in ENOSYS EPERM EACCES EINVAL E2BIG EXDEV ELOOP ENOMEM EMFILE; do
    run -e inject=openat2:error=$error
    case $error in
        ENOSYS | EPERM) said_why="openat2, which keeps paths inside their directory, is missing" ;;
        *) said_why="openat2 $error" ;;
    esac
    expect "$said_why" old "openat2 that fails with $error"
    ! grep -qE 'open(at)?\(.*"([^"]*/directory/)?\.?a' "$work/calls" || refuse "a weaker call was tried after $error"
done
run -e inject=openat2:error=EAGAIN:when=1..63
expect replaced new "an open that others disturb"
run -e inject=openat2:error=EAGAIN
expect "openat2 EAGAIN" old "an open that others disturb all the time"
calls=$(grep -c 'openat2(' "$work/calls")
((calls == 64)) || refuse "openat2 was called $calls times"

echo "a file was replaced and killed at $kills system calls: old or new contents each time"
exit $failed
