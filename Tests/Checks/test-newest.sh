#!/bin/bash
# The suite on the libuv inside a source archive of uvloop.
# usage: test-newest.sh UVLOOP LIBUV FLAGS...
set -euo pipefail
. Tests/Checks/newest-libuv.sh "$1" "$2"

log=$(mktemp)
trap 'rm -f "$log"; forget_libuv' EXIT
forget_libuv
swift test "${@:3}" | tee "$log"
grep -q 'Test "libuv and its headers are of the version expected" passed' "$log"
