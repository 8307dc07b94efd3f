#!/bin/bash
# Each function of OpenSSL's that the built library calls is among those whose file Sources/CFuturesTLS/copy.h looks at.
# usage: openssl-names.sh BUILD
set -euo pipefail

names() { nm "$@" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }
libraries=("$(ldconfig -p | awk '/libssl\.so\.3 / && !found++ { print $NF }')" "$(ldconfig -p | awk '/libcrypto\.so\.3 / && !found++ { print $NF }')")
called=$(comm -12 <(names -u "$1"/TLSStreams.build/*.o 2>/dev/null) <(names -D --defined-only "${libraries[@]}"))
missing=$(comm -23 - <(grep -o 'use([A-Za-z0-9_]*)' Sources/CFuturesTLS/copy.h | sed 's/use(//; s/)//' | sort -u) <<<"$called")
[ -z "$missing" ] || { echo "copy.h does not know $missing" >&2; exit 1; }
count=$(wc -l <<<"$called")
((count > 100)) || { echo "only $count functions of OpenSSL's were found" >&2; exit 1; }
echo "the copy of OpenSSL is looked at by all $count functions that are called"
