#!/bin/bash
# A reader that stops while more than 1 GiB is offered: the sender is held back, the server grows by less than
# 32 MiB, and everything arrives once reading goes on.
. "$(dirname "$0")/server.sh"

memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$server/status"; }
offer() { seq 120000000; }

example=EchoServer size=$(offer | wc -c)
start
exec {client}<>"/dev/tcp/$host/$port"
before=$(memory VmRSS)
offer >&"$client" &
sender=$!
! timeout 10 tail --pid=$sender -f /dev/null || fail "does not hold the sender back"
cmp <(offer) <(head -c "$size" <&"$client") || fail "lost or changed bytes"
wait $sender
growth=$(($(memory VmHWM) - before))
echo "$example: grew by $growth KiB while $size bytes waited"
[ "$growth" -lt 32768 ] || fail "grew by more than 32 MiB"
