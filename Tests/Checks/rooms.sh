#!/bin/bash
# Holds the walls between the rooms: what may occur in code only in files whose path begins with a prefix.
set -euo pipefail

unsafe="Sources/UVFutures/UV/ Sources/Futures/Cell/ Sources/ByteStreams/RawSpans.swift"
unsafe+=" Sources/UVFutures/Sockets/ConnectionList.swift"
unsafe+=" Sources/Futures/Loop/(EventLoop|Executor|Inbox|OwningThreads|StandardError).swift Sources/Futures/Tasks/"
unchecked="Sources/Futures/Loop/(EventLoop|LoopCore).swift Sources/Futures/Tasks/Body(Executor)?.swift"
foundation="Sources/ByteStreams/ Sources/UVFutures/ Sources/FuturesTesting/"
libuv="Sources/UVFutures/UV/"

failed=0
only_in() {
    local prefixes=$1 pattern=$2 hits
    hits=$(grep -rn --include='*.swift' '' Sources | sed 's|//.*||' |
        grep -wE -- "$pattern" | grep -vE "^(${prefixes// /|})") || return 0
    printf 'outside of the rooms that may say "%s":\n%s\n' "$pattern" "$hits" >&2
    failed=1
}

only_in "$unsafe" 'unsafe'
only_in "$unchecked" '@unchecked Sendable'
only_in "$foundation" 'import FoundationEssentials'
only_in "nowhere" 'import Foundation'
only_in "$libuv" 'import CLibUV'
exit $failed
