#!/bin/bash
# Uses libraries of SwiftNIO beside a loop, as the guide shows it.
# usage: nio.sh FLAGS...
set -euo pipefail

package=Examples/NIOLibraries
guide=Sources/UVFutures/Documentation.docc/LibrariesOfSwiftNIO.md
! awk '/^```/ { isShown = /^```swift excerpt$/; next } isShown && NF { sub(/^ */, ""); print }' "$guide" |
    grep -vxFf <(sed 's/^ *//' "$package"/Sources/*/*.swift) || { echo "$guide shows what is not in the example" >&2; exit 1; }

swift build --package-path "$package" "$@"
said=$(timeout 120 "$package/.build/debug/NIOLibraries") && [[ $said == *$'\n'"SwiftNIO: passed" ]] ||
    { echo "NIOLibraries said: $said" >&2; exit 1; }
echo "SwiftNIO: passed"
