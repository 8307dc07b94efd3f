#!/bin/bash
# Measures one topic beside its peers, and leaves samples, a table and a chart in results/TOPIC/; prints the table.
# `--quick` runs fewer and shorter rounds, and leaves what is committed as it is: see .build/results/.
# usage: topic.sh [--quick] asynchronous|datagrams|processes|files|tls|programs
. "$(dirname "$0")/common.sh"

results=results rounds=(--rounds 25 --scale 0.5)
if [[ ${1-} == --quick ]]; then results=.build/results rounds=(--rounds 5 --memory-rounds 1 --scale 0.2) && shift; fi

case ${1-} in
asynchronous)
    build_echo
    build_nio
    build_asynchronous
    mkdir -p "$results/$1"
    samples=$results/$1/samples.jsonl
    rm -f "$samples"
    Runner/echo.py --topic asynchronous "${rounds[@]}" "$samples"
    Runner/echo.py --topic lines "${rounds[@]}" --memory-rounds 0 "$samples"
    Runner/instructions.py --topic asynchronous "$samples"
    Runner/chart.py --title "Asynchronous code: CPU time per round trip" \
        --table "CPU per round trip, asynchronous" --table "CPU per round trip, lines" "$samples" \
        >"$results/$1/echo.svg"
    ;;
datagrams)
    swift_build --product DatagramEcho
    # The same without batches, and without datagrams that go through the kernel as one.
    swift_build --scratch-path .build/one-by-one -Xcc -DDATAGRAMS_AT_ONCE=1 --product DatagramEcho
    clang -O2 -Wall -Wextra -o .build/c/datagrams Peers/C/datagrams.c $(pkg-config --cflags --libs libuv)
    build_load
    mkdir -p "$results/$1"
    samples=$results/$1/samples.jsonl
    rm -f "$samples"
    Runner/echo.py --topic datagrams "${rounds[@]}" --memory-rounds 0 "$samples"
    Runner/chart.py --title "Datagrams: CPU time per round trip" \
        --table "CPU per round trip, datagrams" "$samples" >"$results/$1/echo.svg"
    ;;
processes)
    swift_build --product ProcessStarts
    mkdir -p "$results/$1"
    sizes=(5 100 4000)
    [[ $results == results ]] || sizes=(2 30 4000)
    Runner/processes.py "${sizes[@]}" | tee "$results/$1/tables.md"
    exit
    ;;
files)
    swift_build --product FileWork
    clang -O2 -Wall -Wextra -o .build/c/files Peers/C/files.c
    mkdir -p "$results/$1"
    samples=$results/$1/samples.jsonl
    rm -f "$samples"
    Runner/files.py --rounds "$([[ $results == results ]] && echo 21 || echo 5)" "$samples"
    Runner/chart.py --title "Files: CPU time" --table "CPU per copy of 64 MiB to a connection" \
        --table "CPU per read of 100 bytes" "$samples" >"$results/$1/files.svg"
    ;;
programs)
    # Apart from the programs of the tests: these can be looked into, and check each access to what others may see.
    for program in KeyValueServer WebServer; do
        swift_build --package-path ../../Examples --scratch-path "$PWD/.build/programs" --product $program
    done
    clang -O2 -Wall -Wextra -Wno-unused-parameter -o .build/c/http Peers/C/http.c $(pkg-config --cflags --libs libuv)
    build_nio
    mkdir -p "$results/$1"
    samples=$results/$1/samples.jsonl
    rm -f "$samples"
    Runner/keyvalue.py --rounds "$([[ $results == results ]] && echo 11 || echo 5)" "$samples"
    Runner/web.py --rounds "$([[ $results == results ]] && echo 11 || echo 5)" "$samples"
    Runner/chart.py --title "Programs: CPU time" --table "CPU per command" --table "CPU per request, web" "$samples" \
        >"$results/$1/programs.svg"
    ;;
tls)
    swift_build --product TLSEcho
    build_nio
    clang -O2 -Wall -Wextra -Wno-unused-parameter -o .build/c/tls Peers/C/tls.c $(pkg-config --cflags --libs libuv openssl)
    build_load
    mkdir -p "$results/$1"
    samples=$results/$1/samples.jsonl
    rm -f "$samples"
    rounds=(--rounds 25 --scale 0.5)
    [[ $results == results ]] || rounds=(--rounds 5 --few 1 --scale 0.2)
    Runner/tls.py "${rounds[@]}" "$samples"
    Runner/chart.py --title "Encrypted connections: CPU time" --table "CPU per round trip, tls" \
        --table "CPU per connection of one message, tls" "$samples" >"$results/$1/tls.svg"
    ;;
*) die "a topic is missing: asynchronous, datagrams, processes, files, tls or programs" ;;
esac
Runner/table.py "$samples" | tee "$results/$1/tables.md"
