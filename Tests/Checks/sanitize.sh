#!/bin/bash
# The suite under both sanitizers, and the proof that the first one finds a retain cycle.
# XCTest's own runner leaks, so only Swift Testing's runs. One test at a time: the sanitizers' locks spin, and
# with more threads than processors that starves what is measured in time. So each suite takes one processor, and they
# run beside each other.
# usage: sanitize.sh FLAGS...
set -euo pipefail

# The toolchain's backtracer hangs over a process that a sanitizer ends, and so does whoever reads its output.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS=suppressions=$PWD/Tests/Checks/thread-sanitizer.txt
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for sanitizer in address thread; do
    swift build --build-tests --disable-xctest --sanitize=$sanitizer --scratch-path ".build-$sanitizer" "$@"
done

suite() {
    swift test --skip-build --no-parallel --disable-xctest --sanitize="$1" --scratch-path ".build-$1" "${@:2}"
}

suite address "$@" >"$log" 2>&1 &
failed=0
suite thread "$@" || failed=1
wait $! || failed=1
cat "$log"
((failed == 0))

output=$(PLANT_LEAK=1 suite address --filter plantedLeak "$@" 2>&1) && status=0 || status=$?
if [ $status = 0 ] || ! grep -q 'LeakSanitizer: detected' <<<"$output"; then
    printf '%s\nthe planted leak was not found\n' "$output" >&2
    exit 1
fi
echo "the planted leak was found, as it should be"
