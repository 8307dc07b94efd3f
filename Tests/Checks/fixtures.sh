#!/bin/bash
# Compiles every fixture against the built modules. MustNotCompile has to fail and MustWarn to warn, with the
# text in the first line and no other; MustCompile has to compile without a word, so that the others cannot
# fail for want of a module.
# usage: fixtures.sh MODULES
set -euo pipefail
modules=$1

# Sendability is checked by passes that -typecheck leaves out.
complaints() {
    swiftc -emit-sil -o /dev/null -parse-as-library -swift-version 6 -diagnostic-style llvm \
        -I "$modules" -I Sources/CLibUV -I Sources/CRuntime -I Sources/CTLS $(pkg-config --cflags libuv) "$1" 2>&1 |
        grep -E '(error|warning): ' || true
}

failed=0
refuse() {
    printf '%s: expected %s, got:\n%s\n' "$1" "$2" "${3:-nothing}" >&2
    failed=1
}

for fixture in Tests/Checks/MustCompile/*.swift; do
    got=$(complaints "$fixture")
    [ -z "$got" ] || refuse "$fixture" nothing "$got"
done

for fixture in Tests/Checks/Must{NotCompile,Warn}/*.swift; do
    case $fixture in
        */MustNotCompile/*) kind=error ;;
        */MustWarn/*) kind=warning ;;
    esac
    expected="$kind: $(sed -n '1s|^// expect: ||p' "$fixture")"
    got=$(complaints "$fixture")
    if [ -z "$got" ] || grep -qvF -- "$expected" <<<"$got"; then refuse "$fixture" "$expected" "$got"; fi
done
exit $failed
