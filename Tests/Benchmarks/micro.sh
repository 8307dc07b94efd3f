#!/bin/bash
# Appends what single operations of ours and of the peers cost to a file, in the format of Runner/samples.py. `--quick` runs
# fewer and shorter rounds, and counts nothing. Other options go to Runner/micro.py.
# usage: micro.sh [--quick] FILE [OPTION...]
. "$(dirname "$0")/common.sh"

close=(await-completed await-pending map-pending timer-cancel)
options=(--rounds 11 --curve-rounds 3 --counts)
if [[ ${1-} == --quick ]]; then options=(--rounds 5 --curve-rounds 0 --scale 0.1) && shift; fi
(($#)) || die "a file is missing, to append to"
[[ $1 == /* ]] || set -- "$(realpath -m --relative-to=. "$OLDPWD/$1")" "${@:2}"

build_micro
build_nio
build_counter
Runner/micro.py "${options[@]}" "$@"
# More rounds for what is close to its target, and for two threads, which vary most.
if [[ "${options[*]} $*" == *--counts* && $* != *--figure* ]]; then
    Runner/micro.py --rounds 40 --curve-rounds 0 "${close[@]/#/--figure=}" "$@"
    Runner/micro.py --rounds 150 --curve-rounds 0 --figure submit "$@"
fi
