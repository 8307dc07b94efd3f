#!/bin/bash
# Measures echo servers and single operations beside their peers, and leaves samples, tables and charts in results/;
# prints the tables. `--quick` runs fewer and shorter rounds, and leaves what is committed as it is: see .build/results/.
. "$(dirname "$0")/common.sh"

results=results rounds=(--rounds 25 --scale 0.5)
if [[ ${1-} == --quick ]]; then results=.build/results rounds=(--rounds 5 --memory-rounds 1 --scale 0.2); fi
# Targets are ratios to C that differ from it by a few hundredths: they take more rounds than what is told of others.
compared=(ours:\ {data,chunks,spans,sequence} "C libuv")

build_echo
build_nio

mkdir -p "$results"
samples=$results/samples.jsonl
rm -f "$samples"
Runner/echo.py "${rounds[@]}" "$samples"
if [[ ${1-} != --quick ]]; then
    Runner/echo.py --rounds 60 --memory-rounds 0 --scale 0.5 "${compared[@]/#/--server=}" "$samples"
fi
Runner/instructions.py "$samples"
./micro.sh ${1+"$1"} "$samples"

Runner/table.py "$samples" | tee "$results/tables.md"
Runner/chart.py --title "Echo servers: CPU time per round trip" --table "CPU per round trip" \
    --table "Memory per idle connection" "$samples" >"$results/echo.svg"
Runner/chart.py --title "Single operations: CPU time" --table "CPU per operation" "$samples" >"$results/micro.svg"
