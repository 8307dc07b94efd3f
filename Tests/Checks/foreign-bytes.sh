#!/bin/bash
# Whatever reads the bytes of others meets a million random and mutated inputs, under the address sanitizer.
# usage: foreign-bytes.sh FLAGS...
set -euo pipefail

# The toolchain's backtracer hangs over a process that a sanitizer ends, and so does whoever reads its output.
export SWIFT_BACKTRACE=enable=no SOAK=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift test --disable-xctest --sanitize=address --scratch-path .build-address --filter '/anything' "$@" | tee "$log"
# Addresses, paths, the variables of systemd, framing, answers of name servers, and what encrypted connections begin with.
grep -q 'Test run with 6 tests in .* passed' "$log"
