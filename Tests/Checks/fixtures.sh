#!/bin/bash
# Compiles every fixture against the built modules. MustNotCompile has to fail and MustWarn to warn, with the
# text in the first line and no other; MustCompile has to compile without a word, so that the others cannot
# fail for want of a module. If lines of a fixture end with `// here`, each of them has to be complained of.
# usage: fixtures.sh MODULES
set -euo pipefail
export modules=$1

# Sendability is checked by passes that -typecheck leaves out.
complaints() {
    swiftc -emit-sil -o /dev/null -parse-as-library -swift-version 6 -diagnostic-style llvm \
        -I "$modules" -I Sources/CLibUV -I Sources/CFuturesSystem -I Sources/CFuturesRuntime -I Sources/CFuturesTLS $(pkg-config --cflags libuv) "$1" 2>&1 |
        grep -E '(error|warning): ' || true
}

check() {
    local fixture=$1 expected=nothing kind got missed
    got=$(complaints "$fixture")
    case $fixture in
        */MustCompile/*) [ "$got" ] || return 0 ;;
        */MustNotCompile/*) kind=error ;;
        */MustWarn/*) kind=warning ;;
    esac
    if [ "${kind-}" ]; then
        expected="$kind: $(sed -n '1s|^// expect: ||p' "$fixture")"
        missed=$(comm -23 <(sed -n '\|// here$|=' "$fixture" | sort) <(cut -d: -f2 <<<"$got" | sort))
        [ -z "$got" ] || [ "$missed" ] || grep -qvF -- "$expected" <<<"$got" || return 0
    fi
    printf '%s: expected %s%s, got:\n%s\n' \
        "$fixture" "$expected" "${missed:+ in line ${missed//$'\n'/, }, too}" "${got:-nothing}" >&2
    return 1
}
export -f check complaints
printf '%s\0' Tests/Checks/Must{Compile,NotCompile,Warn}/*.swift | xargs -0 -P "$(nproc)" -I {} bash -c 'check {}'
