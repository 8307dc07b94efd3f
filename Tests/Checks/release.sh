#!/bin/bash
# Tries a release before there is one: in a clean clone that has its tag, packages which ask for the version are resolved, built
# without a warning and run, in debug and in release, in the language modes of Swift 5 and 6, with UVFutures alone and with all.
# usage: release.sh VERSION
set -euo pipefail

version=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1" >&2; exit 1; }
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "\"$version\" is no version; give one like 0.1.0"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
grep -qxF "## $version" .github/CHANGELOG.md || fail "the changelog does not say what $version is"

git clone -q . "$work/swift-uv-futures"
git -C "$work/swift-uv-futures" tag "$version"

# usage: try NAME PRODUCTS IMPORTS    products and imports with commas between them
try() {
    local package=$work/$1 mode products=() target
    mkdir -p "$package"
    for product in ${2//,/ }; do products+=(".product(name: \"$product\", package: \"swift-uv-futures\"),"); done
    {
        printf '// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: "%s", dependencies: [\n' "$1"
        printf '.package(url: "file://%s", from: "%s")], targets: [\n' "$work/swift-uv-futures" "$version"
        for mode in 5 6; do
            printf '.executableTarget(name: "Mode%s", dependencies: [%s], swiftSettings: [.swiftLanguageMode(.v%s)]),\n' \
                $mode "${products[*]}" $mode
        done
        echo '])'
    } >"$package/Package.swift"
    for mode in 5 6; do
        mkdir -p "$package/Sources/Mode$mode"
        {
            for module in ${3//,/ }; do echo "import $module"; done
            echo 'let loop = EventLoop.main'
            echo 'print(try loop.run(until: loop.sleep(for: .milliseconds(1)).map { "it runs" }))'
        } >"$package/Sources/Mode$mode/main.swift"
    done
    for configuration in debug release; do
        swift build --package-path "$package" -c $configuration -Xswiftc -use-ld=lld >"$work/log" 2>&1 ||
            { cat "$work/log" >&2; fail "$1 does not build in $configuration"; }
        ! grep 'warning:' "$work/log" >&2 || fail "$1 builds with a warning in $configuration"
        for mode in 5 6; do
            [ "$("$package/.build/$configuration/Mode$mode")" = 'it runs' ] || fail "$1 does not run in $configuration, mode $mode"
        done
    done
    echo "$1: resolved as $(sed -n 's/.*"version" : "\(.*\)".*/\1/p' "$package/Package.resolved"), built and run"
}
try alone UVFutures UVFutures
try all UVFutures,Futures,ByteStreams,FuturesTesting,TLSStreams UVFutures,FuturesTesting,TLSStreams
echo "$version can be released"
