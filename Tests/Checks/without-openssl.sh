#!/bin/bash
# A package that uses UVFutures alone builds where OpenSSL's headers are not to be had, with no warning, and no file of
# OpenSSL's is loaded with it.
set -euo pipefail

here=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/Sources/Plain"
cat >"$work/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Plain", dependencies: [.package(name: "library", path: "$here")],
    targets: [.executableTarget(name: "Plain", dependencies: [.product(name: "UVFutures", package: "library")])])
END
cat >"$work/Sources/Plain/main.swift" <<'END'
import UVFutures
print(try EventLoop.main.run(until: EventLoop.main.succeeded("plain")))
END
# Whoever may mount has the headers hidden.
hide='mount -t tmpfs none /usr/include/openssl'
if unshare -m sh -c "$hide" 2>/dev/null; then hidden=(unshare -m sh -c "$hide; exec \"\$@\"" sh); else hidden=(); fi
"${hidden[@]}" swift build --package-path "$work" -Xswiftc -use-ld=lld >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
if grep -E 'warning:|libssl' "$work/log" >&2; then echo "the build says that" >&2; exit 1; fi
[ "$("$work/.build/debug/Plain")" = plain ] || { echo "the program does not run" >&2; exit 1; }
if ldd "$work/.build/debug/Plain" | grep -E 'libssl|libcrypto' >&2; then echo "a program without TLS loads that" >&2; exit 1; fi
echo "a program without TLS needs no OpenSSL${hidden:+, not even its headers}"
