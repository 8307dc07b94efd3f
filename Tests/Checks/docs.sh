#!/bin/bash
# One archive of documentation for all modules; a link that leads nowhere is an error.
# The toolchain's docc does it alone: a plug-in would be a dependency of every user.
# usage: docs.sh FLAGS...
set -euo pipefail

catalog=.build-docs/UVFutures.docc
rm -rf .build-docs
mkdir -p "$catalog"
swift package "$@" dump-symbol-graph --minimum-access-level public --skip-synthesized-members

# UVFutures exports the others again, so readers find everything in one module, as users do. A link may name the
# module that its target comes from.
graphs=$(swift build --show-bin-path)/../symbolgraph
for graph in "$graphs"/{Futures,ByteStreams,UVFutures,FuturesTesting}[.@]*; do
    name=$(basename "$graph")
    sed -E 's/"module":\{"name":"\w+"/"module":{"name":"UVFutures"/
            s/``(Futures|ByteStreams|FuturesTesting)\//``/g' "$graph" >"$catalog/${name/@/-}"
done
find Sources -path '*.docc/*' -type f -exec cp -t "$catalog" {} +

docc convert "$catalog" --fallback-display-name UVFutures --fallback-bundle-identifier swift-uv-futures \
    --warnings-as-errors --output-path .build-docs/UVFutures.doccarchive
echo "built .build-docs/UVFutures.doccarchive"
