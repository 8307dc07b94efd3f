#!/bin/bash
# One archive of documentation for all modules; a link that leads nowhere is an error, and so is a symbol in no group.
# The toolchain's docc does it alone: a plug-in would be a dependency of every user.
# usage: docs.sh FLAGS...
set -euo pipefail

catalog=.build-docs/UVFutures.docc
rm -rf .build-docs
mkdir -p "$catalog"
# `swift package dump-symbol-graph` would ask for the tests too, and fail where nobody has built them.
swift build "$@" --target UVFutures
swift build "$@" --target FuturesTesting
swift build "$@" --target TLSStreams
modules=$(swift build "$@" --show-bin-path)/Modules

headers=(-Xcc -fmodule-map-file=Sources/CLibUV/module.modulemap -Xcc -fmodule-map-file=Sources/CFuturesSystem/module.modulemap -Xcc -fmodule-map-file=Sources/CFuturesRuntime/module.modulemap
    -Xcc -fmodule-map-file=Sources/CFuturesTLS/module.modulemap)
for flag in $(pkg-config --cflags libuv); do headers+=(-Xcc "$flag"); done
for module in Futures ByteStreams SystemIO UVFutures FuturesTesting TLSStreams; do
    swift-symbolgraph-extract -module-name $module -minimum-access-level public -skip-synthesized-members \
        -omit-extension-block-symbols -target "$(uname -m)-unknown-linux-gnu" -I "$modules" \
        "${headers[@]}" -output-dir .build-docs
done
"${BASH_SOURCE%/*}/graphs.py" .build-docs "$catalog"
"${BASH_SOURCE%/*}/diagrams.py" --check
find Sources -path '*.docc/*' -type f -exec cp -t "$catalog" {} +
# docc finds an image by its name alone. Whoever reads the sources has it by its path.
sed -i 's|](Resources/|](|' "$catalog"/*.md

docc convert "$catalog" --fallback-display-name UVFutures --fallback-bundle-identifier swift-uv-futures \
    --enable-experimental-overloaded-symbol-presentation --fallback-default-module-kind Library \
    --warnings-as-errors --output-path .build-docs/UVFutures.doccarchive
"${BASH_SOURCE%/*}/groups.py" .build-docs/UVFutures.doccarchive
echo "built .build-docs/UVFutures.doccarchive"
