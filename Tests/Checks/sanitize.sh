#!/bin/bash
# The suite of a debug build with the library compiled anew for each sanitizer, and the proof that the first one finds a
# retain cycle. With CI set, the first one's is on the libuv inside a source archive of uvloop, and so is no other run.
# The code of the tests is not watched, but the memory that it asks for, shares and lets go of is.
# XCTest's own runner leaks, so only Swift Testing's runs. One test at a time: the sanitizers' locks spin, and
# with more threads than processors that starves what is measured in time. So each part of a suite takes one processor.
# As more than half of its time is spent waiting, three parts run beside each other. What lives on one thread, streams over
# memory, TLS and worlds, meets the thread sanitizer only without CI set.
# usage: sanitize.sh SCRATCH-PATH UVLOOP LIBUV
set -euo pipefail
scratch=$1
export output=.build-sanitized versions="$2 $3"

# The toolchain's backtracer hangs over a process that a sanitizer ends, and so does whoever reads its output.
export SWIFT_BACKTRACE=enable=no
# Whoever reads the log looks for the marks at the beginning of a line.
export NO_COLOR=1
export TSAN_OPTIONS=suppressions=$PWD/Tests/Checks/thread-sanitizer.txt
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# usage: on SANITIZER COMMAND...    with the libuv that is meant for it
on() (
    if [ "${CI-}" ] && [ "$1" = address ]; then . Tests/Checks/newest-libuv.sh $versions; fi
    "${@:2}"
)
# usage: suite SANITIZER ARGUMENTS...
suite() { on "$1" "$output/$1/tests" --testing-library swift-testing --no-parallel "${@:2}"; }

# The compiler keeps what it has made of a C library's headers, even for headers from elsewhere. So each has its own place.
build() { PLAN=$output/debug.yaml Tests/Checks/variant.py "$scratch" "$output/$1" "-sanitize=$1" -module-cache-path "$output/$1/cache" "${@:2}"; }
# What SwiftPM says of the build may be of another package later.
mkdir -p "$output"
cp "$scratch/debug.yaml" "$output/plan"
mv "$output/plan" "$output/debug.yaml"
build thread &
building=$!
build address $(on address pkg-config --cflags libuv | sed 's/-I/-Xcc -I/g')
wait "$building"

export -f on suite
of_one_thread="thread --skip ^FuturesTests[.]|^UVFuturesTests[.]"
if [ "${CI-}" ]; then of_one_thread=; fi
xargs -P 3 -L 1 bash -c 'suite "$@" 2>&1 || exit 1' suite <<END | tee "$log"
thread --filter ^UVFuturesTests[.][M-Z]
thread --filter ^UVFuturesTests[.][A-L]
thread --filter ^FuturesTests[.]
$of_one_thread
address --filter ^UVFuturesTests[.][A-L]
address --filter ^UVFuturesTests[.][M-Z]
address --skip ^FuturesTests[.]|^UVFuturesTests[.]
address --filter ^FuturesTests[.]
END
if [ "${CI-}" ]; then grep -q 'Test "libuv and its headers are of the version expected" passed' "$log"; fi

said=$(PLANT_LEAK=1 suite address --filter plantedLeak 2>&1) && status=0 || status=$?
if [ $status = 0 ] || ! grep -q 'LeakSanitizer: detected' <<<"$said"; then
    printf '%s\nthe planted leak was not found\n' "$said" >&2
    exit 1
fi
echo "the planted leak was found, as it should be"
