#!/bin/bash
# No mark of unfinished work and no path of somebody's machine goes into the repository, and the code of pages can be read
# without scrolling. What shows a file of the examples or what a program prints is as it is there. In scripts, who reads a pipe
# reads all of it: what writes into one that is closed fails, and under pipefail the script with it, now and then.
set -euo pipefail

status=0
git grep -nIE --untracked '\<(TO[D]O|FIX[M]E)\>|/(home|root|Users|opt|work)/' >&2 || status=$?
[ $status != 0 ] || echo "unfinished, or of one machine only" >&2
awk '/^```/ { isOpen = !isOpen; isCode = isOpen && !/excerpt|text/; next }
    isCode && length > 80 { print FILENAME ":" FNR ": " length " columns"; isLong = 1 }
    END { if (isLong) print "code of pages has 80 columns at most"; exit isLong }' \
    README.md Sources/UVFutures/Documentation.docc/*.md >&2
git grep -nE --untracked '[^|][|] *grep -[a-zA-Z]*q' -- '*.sh' .ci/run >&2 && exit 1
[ $status = 1 ]
