#!/bin/bash
# Runs a command that builds, and fails if the compiler warns.
# usage: without-warnings.sh COMMAND...
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
! grep -E '^/.*:[0-9]+:[0-9]+: warning: ' "$log" >&2
