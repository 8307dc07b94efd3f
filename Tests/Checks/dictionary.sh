#!/bin/bash
# Holds the dictionary to its word: each feature of the systems it covers has one row, each row names tests that
# exist, no test is named by more than two rows, and every name it gives as ours is public: in api.txt, which comes from the
# compiler, as a declaration or as a label, or one of Swift's own.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The ids of the features, system by system.
ids() {
    for range in FK:1-16 FK:20-37 FK:40-52 FK:60-75 FW:1-38 DL:1-8 JS:1-6 LB:1-29; do
        local numbers=${range#*:}
        seq -f "${range%:*}%g" "${numbers%-*}" "${numbers#*-}"
    done | sort
}

# Each test as Suite.function.
tests() {
    find Tests -name '*.swift' -print0 | xargs -0 awk '
        /^(@.*)?(struct|final class|extension) [A-Z]/ {
            match($0, /(struct|class|extension) [A-Za-z0-9_]+/)
            suite = substr($0, RSTART, RLENGTH); sub(/^[a-z]+ /, "", suite)
        }
        /@Test/ { isTest = 1 }
        isTest && match($0, /func `?[A-Za-z0-9_]+/) {
            name = substr($0, RSTART, RLENGTH); sub(/func `?/, "", name); print suite "." name; isTest = 0
        }' | sort -u
}

# Each row of a table as its cells, with tabs between them. An escaped bar is part of its cell.
rows() {
    sed -nE '/^\|.*\|$/ { s/\\\|/!/g; s/^\| *//; s/ *\|$//; s/ *\| */\t/g; /^-/d; p }' \
        Sources/UVFutures/Documentation.docc/ComingFrom*.md
}

# The words within backticks.
words() { grep -o '`[^`]*`' | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u; }

failed=0
refuse() {
    [ -z "$2" ] && return
    printf '%s:\n%s\n' "$1" "$2" >&2
    failed=1
}

feature='^(FK|FW|DL|JS|LB)[0-9]+$'
ids >"$work/ids"
tests >"$work/tests"
rows >"$work/rows"
awk -F '\t' -v feature="$feature" '$1 ~ feature' "$work/rows" >"$work/features"
cut -f 1 "$work/features" | sort >"$work/found"
cut -f 5 "$work/features" | tr -d '`' | tr -s ' ,' '\n' | grep . | sort >"$work/named" || true
awk -F '\t' -v feature="$feature" 'NF == 3 { print $2 } $1 ~ feature { print $3 }' "$work/rows" |
    words >"$work/ours"
swift="Any AsyncSequence CancellationError Never SerialExecutor TaskExecutor if try"
# A parameter's label is a name for users, and what the function calls it is not. These are names in examples, too.
examples="bag make promise replacement"
{ sed -E 's/\b(var|let|case) /\1@/g; s/\b([a-z_]\w*) ([a-z]\w*):/\1:/g' Tests/Checks/api.txt; ls Sources; echo "$swift $examples"; } |
    grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$work/names"

refuse "these features have no row" "$(comm -23 "$work/ids" <(uniq "$work/found"))"
refuse "these rows are there twice, or of no feature" "$(comm -13 "$work/ids" "$work/found")"
refuse "these rows have not five cells, the last of them with a test" \
    "$(awk -F '\t' 'NF != 5 || $5 !~ /^`[A-Za-z0-9_]+\.[A-Za-z0-9_]+`/ { print $1 }' "$work/features")"
refuse "these tests do not exist" "$(comm -23 <(uniq "$work/named") "$work/tests")"
refuse "these tests are named by more than two rows" "$(uniq -c "$work/named" | awk '$1 > 2 { print $2 }')"
refuse "these names are given as ours, and are not public" "$(comm -23 "$work/ours" "$work/names")"
echo "the dictionary has $(wc -l <"$work/found") rows that name $(uniq "$work/named" | wc -l) tests" \
    "and $(wc -l <"$work/ours") names of ours"
exit $failed
