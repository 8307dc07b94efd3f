#!/bin/bash
# Prints the lines of code of each module, without blank lines and comments.
set -euo pipefail
total=0
for module in Futures ByteStreams SystemIO UVFutures FuturesTesting TLSStreams; do
    count=$(find "Sources/$module" -name '*.swift' -exec cat {} + | grep -cvE '^[[:space:]]*(//.*)?$')
    total=$((total + count))
    printf '%6d  %s\n' "$count" "$module"
done
printf '%6d  in all\n' "$total"
