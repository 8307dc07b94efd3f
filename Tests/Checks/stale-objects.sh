#!/bin/bash
# Removes the objects of files that are gone: SwiftPM leaves them, and programs of the checks link all objects of a module.
# usage: stale-objects.sh BUILD-DIRECTORY
set -euo pipefail
for sources in "$1"/*.build/sources; do
    for object in "${sources%/*}"/*.swift.o; do
        grep -qE "/$(basename "${object%.o}" | sed 's/[+.]/\\&/g')'?\$" "$sources" || rm "$object"
    done
done
