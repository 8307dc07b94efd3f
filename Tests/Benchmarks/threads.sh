#!/bin/bash
# Prints what submissions of other threads and awaits cost, beside SwiftNIO in the same process. `--quick` runs fewer.
. "$(dirname "$0")/common.sh"

jobs=100000 awaits=1000000
if [[ ${1-} == --quick ]]; then jobs=20000 awaits=20000; fi

swift_build --package-path Threads
Threads/.build/release/Submissions "$jobs" 11
Threads/.build/release/Awaits "$awaits" 5
