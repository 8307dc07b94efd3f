#!/bin/bash
# Whatever reads the bytes of others meets a million random and mutated inputs, under the address sanitizer.
# usage: foreign-bytes.sh FLAGS...
set -euo pipefail

# The toolchain's backtracer hangs over a process that a sanitizer ends, and so does whoever reads its output.
export SWIFT_BACKTRACE=enable=no SOAK=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# usage: anything COUNT ARGUMENTS...    all tests of that name that match, which have to be so many
anything() {
    local count=$1
    swift test -c release -Xswiftc -enable-testing --disable-xctest --sanitize=address "${@:2}" | tee "$log"
    grep -q "Test run with $count tests in .* passed" "$log"
}
# Addresses, paths, the variables of systemd, framing, answers of name servers, and handshakes and records of encrypted
# connections: also a million in the midst of an exchange, which takes most of the time.
anything 6 --scratch-path .build-address/release --filter '/anything' "$@"
# Messages of HTTP and of RESP.
anything 2 --scratch-path .build-address/examples --package-path Examples --filter 'MutationTests|RESPTests.*anything' "$@"
