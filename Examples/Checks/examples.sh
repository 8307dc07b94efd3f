#!/bin/bash
# Uses each built example as a client would.
. "$(dirname "$0")/server.sh"

expect_refusal() {
    local said complaint="$work/complaint"
    if said=$(timeout 10 "$bin/$example" "$@" 2>"$complaint"); then fail "accepts $*"; fi
    [ "$(wc -l <"$complaint")" = 1 ] || fail "$*: not one line of complaint: $(cat "$complaint")"
    [[ $said != *"listening on"* ]] || fail "$*: claims to listen"
}

expect_silence() {
    local status=0
    timeout -s INT 5 strace -f -qq -o "$work/trace" -p "$server" 2>/dev/null || status=$?
    if [ $status != 124 ]; then
        echo "$example: system calls not counted, ptrace is not permitted"
    elif grep -vE '<(detached|unfinished) \.\.\.>$' "$work/trace"; then
        fail "makes system calls while idle"
    fi
}

# usage: expect_last_words BYTES CONNECTIONS BROKEN SUMMARY
expect_last_words() {
    local words="echoed $1 bytes to $2 connections, of which $3 broke
after the signal $4"
    [ "$(tail -n 2 "$work/out")" = "$words" ] || fail "ends with: $(tail -n 2 "$work/out")"
}

smoke_EchoServer() {
    start
    [ "$(printf 'hi\n' | timeout 10 nc -N "$host" "$port")" = hi ] || fail "does not echo and end"
    head -c 64M /dev/urandom >"$work/sent"
    timeout 60 socat -t 60 - "TCP:$host:$port" <"$work/sent" >"$work/received" ||
        fail "does not end after a half close"
    cmp "$work/sent" "$work/received" || fail "lost or changed bytes"
    expect_silence
    expect_refusal --port "$port"
    expect_refusal --port 65536
    expect_refusal --port many
    expect_refusal --backlog -1
    expect_refusal --grace -1
    expect_refusal --host 300.0.0.1
    expect_refusal --host example.invalid
    expect_refusal --idle-timeout 0
    expect_refusal --framing-timeout -1
    expect_refusal --keep-alive nan
    expect_refusal --loops 0
    expect_refusal --loops 2 --port "$port"
    expect_refusal --unix ""
    expect_refusal --unix "$(printf '%0108d' 0)"
    stop -TERM 2
    expect_last_words $((3 + 64 * 1024 * 1024)) 2 0 "0 connections finished, 0 were aborted, 0 failed"

    start --udp
    [ "$(printf 'hi\n' | timeout 10 socat -t 1 - "UDP:$host:$port")" = hi ] || fail "does not send back a datagram"
    stop -TERM 2
    grep -q "^datagrams: 1 sent back" "$work/out" || fail "does not count datagrams"
    expect_refusal --udp --loops 2

    start --unix "$work/socket"
    [ "$(printf 'hi\n' | timeout 10 nc -NU "$work/socket")" = hi ] || fail "does not echo at a path"
    kill -KILL "$server"
    wait "$server" 2>/dev/null || [ -e "$work/socket" ] || fail "did not listen at the path"
    start --unix "$work/socket"
    stop -TERM 2
    [ ! -e "$work/socket" ] || fail "leaves its socket behind"

    start --lines --framing-timeout 0.2
    exec {client}<>"/dev/tcp/$host/$port"
    expect_cut_off
    exec {client}>&-
    stop -TERM 12

    start --grace 10
    exec {client}<>"/dev/tcp/$host/$port"
    stop -INT 5 finish_client

    start --grace 1
    exec {client}<>"/dev/tcp/$host/$port"
    stop -TERM 12
    expect_last_words 0 1 0 "0 connections finished, 1 was aborted, 0 failed"
    exec {client}>&-

    # One that reads nothing is sent what its system and ours take, and that is not all: after the grace it has 5 s.
    start --grace 1
    exec {client}<>"/dev/tcp/$host/$port"
    head -c 64M /dev/zero >&"$client" 2>/dev/null &
    local sender=$!
    sleep 1
    stop -TERM 12
    kill "$sender" 2>/dev/null || true
    wait "$sender" || true
    exec {client}>&-
    local sent
    sent=$(sed -nE 's/^echoed ([0-9]+) bytes to 1 connections.*/\1/p' "$work/out")
    [ "$sent" -gt 0 ] && [ "$sent" -lt $((64 * 1024 * 1024)) ] || fail "says that it echoed '$sent' bytes"
    grep -q "^after the signal 0 connections finished, 1 was aborted, 0 failed$" "$work/out" || fail "counts a cut-off one otherwise"

    start --grace 600
    exec {client}<>"/dev/tcp/$host/$port"
    stop -TERM 5 second_signal
    exec {client}>&-
}

# What is over a limit waits, and is served when there is room.
smoke_limits() {
    example=EchoServer
    expect_refusal --max-connections 0
    start --max-connections 2
    connect 3
    echo late >&"${clients[2]}"
    expect_echo 2 late    # One that was silent makes room.
    stop -TERM 10 disconnect
    start --max-connections 2
    connect 3
    local number
    for number in 0 1; do
        echo here >&"${clients[number]}"
        expect_echo $number here
    done
    echo late >&"${clients[2]}"
    ! read -r -t 0.3 -u "${clients[2]}" || fail "serves more than --max-connections"
    disconnect 0
    expect_echo 2 late
    stop -TERM 10 disconnect
    start --max-connections 2 --lines
    expect_room half 'whole\n' whole
    stop -TERM 10

    wrapped=(prlimit --nofile=64)
    start
    connect 500
    # All have spoken, so none makes room.
    for number in $(seq 0 498); do echo here >&"${clients[number]}"; done
    echo late >&"${clients[499]}"
    local before line
    before=$(processor_ticks)
    ! read -r -t 5 -u "${clients[499]}" || fail "serves more than there are descriptors"
    # A hundredth of a second each.
    [ $(($(processor_ticks) - before)) -lt 25 ] || fail "is busy while it has no descriptors"
    [ "$(grep -c EMFILE "$work/complaints")" = 1 ] || fail "does not say once that it has no descriptors"
    # Each that ends lets another one in.
    for number in $(seq 0 469); do disconnect "$number"; done
    expect_echo 499 late
    stop -TERM 10 disconnect
    wrapped=()

    start --share-port
    local first=$server first_port=$port
    if "$bin/$example" --port "$port" </dev/null >/dev/null 2>&1; then fail "shares a port unasked"; fi
    start --share-port --port "$port"
    [ "$port" = "$first_port" ] || fail "listens at another port"
    stop -TERM 2
    server=$first
    [ "$(printf 'hi\n' | timeout 10 nc -N "$host" "$port")" = hi ] || fail "does not serve a port that it shared"
    kill -TERM "$server"
    wait "$server" || fail "ended with status $?"
    server=
}

# By the real systemd-socket-activate, and a manager that is told of it.
smoke_systemd() {
    example=EchoServer
    expect_refusal --systemd
    LISTEN_PID=1 LISTEN_FDS=1 expect_refusal --systemd
    grep -q 'LISTEN_PID is 1, and this process is [0-9]*: the sockets are meant for another one' "$work/complaint" ||
        fail "says of another's sockets: $(cat "$work/complaint")"
    expect_refused_descriptor "is not a socket" 3</dev/null
    expect_refused_descriptor "is a socket for messages" 3<>"/dev/udp/127.0.0.1/9"
    start
    expect_refused_descriptor "is a socket that does not listen" 3<>"/dev/tcp/$host/$port"
    stop -TERM 2
    local manager address="127.0.0.1:$port"
    socat -u "UNIX-RECV:$work/notify" "CREATE:$work/notified" &
    manager=$!
    timeout 10 bash -c "until [ -S '$work/notify' ]; do :; done" || fail "has no manager to tell"
    wrapped=(systemd-socket-activate -l "$address" -l "$work/socket" --fdname=echo:path -E "NOTIFY_SOCKET=$work/notify")
    # It is started by its first client.
    timeout 20 bash -c "until [ \"\$(printf 'hi\\n' | nc -N ${address/:/ })\" = hi ]; do :; done" &
    local client=$!
    start --systemd
    wait $client || fail "does not serve who has woken it"
    [ "127.0.0.1:$port" = "$address" ] || fail "listens at $host:$port, not at $address"
    grep -q 'took socket "echo" of systemd (descriptor 3)' "$work/out" || fail "does not know the name of its socket"
    [ "$(printf 'hi\n' | timeout 10 nc -N "$host" "$port")" = hi ] || fail "does not serve on"
    grep -q 'took socket "path" of systemd (descriptor 4)' "$work/out" || fail "does not take a socket at a path"
    [ "$(printf 'hi\n' | timeout 10 nc -NU "$work/socket")" = hi ] || fail "does not serve at a path of systemd's"
    stop -TERM 5
    # That file is not the server's.
    [ -S "$work/socket" ] || fail "removes the file of systemd's socket"
    wrapped=()
    kill $manager
    wait $manager || true
    [ "$(tr '\n' ' ' <"$work/notified")" = "READY=1 STATUS=listening on ${address}STOPPING=1" ] ||
        fail "told its manager: $(cat "$work/notified")"
}

# usage: expect_refused_descriptor TEXT    with what is passed as descriptor 3
expect_refused_descriptor() {
    local said
    said=$(timeout 10 bash -c "LISTEN_PID=\$\$ LISTEN_FDS=1 exec '$bin/$example' --systemd" 2>&1 >/dev/null) &&
        fail "takes a descriptor that $1"
    [[ $said == *'socket "unknown" of systemd (descriptor 3)'*"$1"* ]] || fail "says of a descriptor: $said"
}

# usage: connect COUNT    sets `clients`
connect() {
    clients=()
    local client
    for _ in $(seq "$1"); do
        exec {client}<>"/dev/tcp/$host/$port"
        clients+=("$client")
    done
}

# usage: disconnect [NUMBER]    or all
disconnect() {
    local number client
    for number in ${1-${!clients[*]}}; do
        client=${clients[number]}
        exec {client}>&-
        unset "clients[$number]"
    done
}

expect_echo() {
    local line
    read -r -t 10 -u "${clients[$1]}" line && [ "$line" = "$2" ] || fail "does not serve who has waited"
}

processor_ticks() {
    local fields
    read -r -a fields <"/proc/$server/stat"
    echo $((fields[13] + fields[14]))
}

# The same server, encrypted, with certificates as one makes them by hand.
smoke_encryption() {
    example=EchoServer certificates=$work/certificates
    Examples/certificates.sh "$certificates" >/dev/null || fail "has no certificates"
    if Examples/certificates.sh "$certificates" 2>"$work/complaint"; then fail "overwrites certificates"; fi
    grep -q "ca.pem is there already; give another directory" "$work/complaint" || fail "says: $(cat "$work/complaint")"
    local encrypted=(--tls-certificate "$certificates/server.pem" --tls-key "$certificates/server.key")
    expect_refusal "${encrypted[@]:0:2}"
    expect_refusal --tls-client-ca "$certificates/ca.pem"
    expect_refusal --tls-certificate "$certificates/none.pem" --tls-key "$certificates/server.key"
    expect_refusal --tls-certificate "$certificates/server.pem" --tls-key "$certificates/client.key"
    expect_refusal --tls-certificate "$certificates/server.key" --tls-key "$certificates/server.key"
    expect_refusal "${encrypted[@]}" --tls-client-ca "$certificates/ca.key"
    for flag in "--loops 2" --udp "--unix $work/socket"; do expect_refusal "${encrypted[@]}" $flag; done

    start "${encrypted[@]}"
    expect_silence
    open_encrypted
    expect_encrypted_echo hello
    local old=("${encrypted_client[@]}") old_pid=$encrypted_client_PID
    # A connection goes on when the certificate changes, and new ones get what is new.
    mkdir "$work/before"
    mv "$certificates"/* "$work/before"
    Examples/certificates.sh "$certificates" >/dev/null
    reload "new connections get the certificate $(serial_of "$certificates/server.pem"), valid until "
    encrypted_client=("${old[@]}") encrypted_client_PID=$old_pid
    expect_encrypted_echo "still here"
    close_encrypted
    open_encrypted
    expect_encrypted_echo new
    close_encrypted
    expect_no_connection -CAfile "$work/before/ca.pem"
    echo nonsense >"$certificates/server.pem"
    reload "the certificate stays as it was: .*server.pem"
    open_encrypted
    expect_encrypted_echo newest
    close_encrypted
    # One that does not know better.
    ! curl -sS "http://$host:$port/" >"$work/received" 2>/dev/null || fail "answers plain HTTP"
    expect_report '^handshakes: 3 completed, 0 of them resumed; [12] failed; 0 under way$'
    grep -q 'a handshake failed: .*the peer speaks plain HTTP' "$work/out" || fail "does not say which handshake failed"
    stop -TERM 5
    expect_last_words $((6 + 11 + 4 + 7)) 3 0 "0 connections finished, 0 were aborted, 0 failed"

    rm "$certificates"/*
    Examples/certificates.sh --rsa "$certificates" >/dev/null
    start "${encrypted[@]}" --tls-client-ca "$certificates/ca.pem" --grace 10
    expect_no_connection
    open_encrypted -cert "$certificates/client.pem" -key "$certificates/client.key"
    expect_encrypted_echo hello
    # Draining ends it in order.
    stop -TERM 5
    expect_last_words 6 1 0 "1 connection finished, 0 were aborted, 0 failed"

    wrapped=(systemd-socket-activate -l "127.0.0.1:$port")
    # It is started by its first client.
    timeout 20 bash -c "until nc -z 127.0.0.1 $port; do :; done" &
    others+=($!)
    start --systemd "${encrypted[@]}"
    open_encrypted
    expect_encrypted_echo hello
    close_encrypted
    stop -TERM 5
    wrapped=()
}

# usage: open_encrypted [OPTION…]    sets `encrypted_client`; what it sends before its end, the server has had
open_encrypted() {
    coproc encrypted_client {
        exec openssl s_client -connect "$host:$port" -servername localhost -verify_hostname localhost \
            -CAfile "$certificates/ca.pem" -verify_return_error -verify_quiet -quiet -no_ign_eof "$@" 2>"$work/client"
    }
}

expect_encrypted_echo() {
    local line
    echo "$1" >&"${encrypted_client[1]}"
    read -r -t 10 -u "${encrypted_client[0]}" line && [ "$line" = "$1" ] ||
        fail "does not echo to openssl: $(cat "$work/client")"
}

close_encrypted() {
    exec {encrypted_client[1]}>&-
    wait "$encrypted_client_PID" || true
}

expect_no_connection() {
    open_encrypted "$@"
    local line
    echo hello 2>/dev/null >&"${encrypted_client[1]}" || true
    ! read -r -t 10 -u "${encrypted_client[0]}" line 2>/dev/null || fail "is connected to with $*, and says $line"
    close_encrypted 2>/dev/null
}

serial_of() { openssl x509 -in "$1" -noout -serial | sed 's/serial=//'; }

# usage: reload PATTERN    has the server read its files again, and waits until it says what became of it
reload() {
    kill -HUP "$server"
    expect_line "$1"
}

expect_line() {
    timeout 10 bash -c 'until grep -q "$1" "$2"; do sleep 0.1; done' - "$1" "$work/out" ||
        fail "does not say “$1” but: $(cat "$work/out")"
}

# A terminator of TLS in front of a web server, and another forwarder that speaks TLS with it.
smoke_PortForwarder() {
    certificates=$work/certificates
    [ -e "$certificates/ca.pem" ] || Examples/certificates.sh "$certificates" >/dev/null
    local encrypted=(--tls-certificate "$certificates/server.pem" --tls-key "$certificates/server.key") web
    mkdir "$work/web"
    head -c 8M /dev/urandom >"$work/web/file"
    : >"$work/web-out"
    python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/web" >>"$work/web-out" 2>/dev/null &
    others+=($!)
    web=$(timeout 10 grep -m1 -oE 'port [0-9]+' <(tail -n +1 -f --pid=$! "$work/web-out")) || fail "has no web server"
    expect_refusal "127.0.0.1:1" --tls-target-ca "$certificates/ca.pem"
    expect_refusal "unix:$work/none" --tls-target
    expect_refusal "127.0.0.1:1" --tls-target --tls-target-ca "$certificates/none.pem"
    expect_refusal "127.0.0.1:1" "${encrypted[@]}" --unix "$work/path"

    start "127.0.0.1:${web#port }" "${encrypted[@]}"
    local inner=$server inner_port=$port
    others+=("$inner")
    expect_file https --cacert "$certificates/ca.pem"
    start "localhost:$inner_port" --tls-target --tls-target-ca "$certificates/ca.pem"
    others+=("$server")
    expect_file http
    start "127.0.0.1:$inner_port" --tls-target --tls-target-ca "$certificates/ca.pem" "${encrypted[@]}"
    expect_file https --cacert "$certificates/ca.pem"
    ! curl -sS -o "$work/received" "https://localhost:$port/file" 2>/dev/null || fail "is trusted without its authority"
    stop -TERM 5
    start "127.0.0.1:$inner_port" --tls-target --tls-target-ca "$certificates/ca.pem" --tls-target-name example.org
    ! curl -sS -o "$work/received" "http://localhost:$port/file" 2>/dev/null || fail "trusts a certificate of another"
    expect_line 'the certificate of “CN=localhost” is not valid for example.org'
    stop -TERM 5
}

# usage: expect_file SCHEME [OPTION…]
expect_file() {
    curl -sS --max-time 60 "${@:2}" -o "$work/received" "$1://localhost:$port/file" || fail "passes nothing on by $1"
    cmp "$work/web/file" "$work/received" || fail "loses or changes bytes by $1"
}

# One server on several loops.
smoke_loops() {
    example=EchoServer
    start --grace 10 --loops 2
    for _ in {1..20}; do
        [ "$(printf 'hi\n' | timeout 10 nc -N "$host" "$port")" = hi ] || fail "does not echo on two loops"
    done
    expect_silence
    kill -USR1 "$server"
    timeout 10 bash -c "until [ \$(grep -c '^server: ' '$work/out') = 2 ]; do :; done" ||
        fail "does not say at SIGUSR1 what its two servers have done"
    exec {client}<>"/dev/tcp/$host/$port"
    stop -INT 5 finish_client
}

# A line that is not completed in time ends the connection, and the reason is counted.
expect_cut_off() {
    local line status=0
    echo hi >&"$client"
    read -r -t 5 -u "$client" line && [ "$line" = hi ] || fail "does not send a line back"
    printf half >&"$client"
    read -r -t 10 -u "$client" line 2>/dev/null || status=$?
    [ $status = 1 ] || fail "keeps a client that does not complete its line"
    expect_report 'closed: framingTimeout 1$' || fail "does not say why it closed a connection"
}

# The id of a request is in each of its lines and spans, on whatever loop, connection or thread, and in no others.
smoke_Observed() {
    expect_refusal --loops 0
    expect_refusal --grace -1
    start
    exec {client}<>"/dev/tcp/$host/$port"
    local line id parent
    printf 'hello\na 1 b\n' >&"$client"
    for line in 5 2; do read -r -t 10 -u "$client" && [ "$REPLY" = "$line" ] || fail "answers $REPLY and not $line"; done
    exec {client}>&-
    stop -TERM 5
    grep -q '^connections_opened: 3 times' "$work/out" || fail "does not count connections: $(cat "$work/out")"
    [ "$(grep -c 'what=TCPConnection .* opened' "$work/complaints")" = 3 ] || fail "does not log connections"
    for line in 1 2; do
        id=$(grep -o -m1 "request=[0-9]*-$line " "$work/complaints") || fail "logs no request $line"
        [ "$(sed -n "s/.* request *: *$id*\\(\\[[^]]*\\]\\)\\? *//p" "$work/complaints" | tr '\n' ,)" = \
            "asks,has the answer,works on 5 bytes elsewhere,is done," ] || fail "loses the id of request $line"
        id=${id#request=} id=${id% }
        parent=$(sed -n "s/^span \(.*\) of request $id: letters$/\1/p" "$work/out")
        [ "$parent" ] && grep -q "^span .* in $parent of request $id: count$" "$work/out" ||
            fail "has no spans of request $id: $(grep ^span "$work/out")"
    done
    [ "$(grep -c 'request=' "$work/complaints")" = 8 ] || fail "logs the id of a request in lines of others"
    [ "$(grep -c '^span ' "$work/out")" = 4 ] || fail "has other spans: $(grep ^span "$work/out")"
}

# Three replicas, of which any one may be gone.
smoke_Replica() {
    local members replicas=() id
    members=$(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*("127.0.0.1:%d" % s.getsockname()[1] for s in sockets))')
    expect_refusal serve --id 3 --file "$work/one" --member $members
    expect_refusal add 5 --member 127.0.0.1
    echo nonsense >"$work/nonsense"
    expect_refusal serve --id 0 --file "$work/nonsense" --member $members
    for id in 0 1 2; do start_replica; done
    expect_sum 5 add 5
    expect_sum 12 add 7
    for id in 0 1 2; do
        kill -KILL "${replicas[id]}"
        wait "${replicas[id]}" 2>/dev/null || true
        expect_sum $((13 + id)) add 1
        start_replica
    done
    expect_sum 15 get
    for id in 0 1 2; do
        kill -TERM "${replicas[id]}"
        wait "${replicas[id]}" || fail "ended with status $?"
    done
    expect_refusal get --member $members
}

start_replica() {
    : >"$work/out-$id"
    "$bin/Replica" serve --id "$id" --file "$work/replica-$id" --member $members >>"$work/out-$id" &
    replicas[id]=$!
    timeout 10 grep -q -m1 '^listening on ' <(tail -n +1 -f --pid="${replicas[id]}" "$work/out-$id") ||
        fail "replica $id does not listen"
}

# usage: expect_sum SUM COMMAND…
expect_sum() {
    local sum
    sum=$(timeout 30 "$bin/Replica" "${@:2}" --member $members) || fail "does not answer ${*:2}"
    [ "$sum" = "$1" ] || fail "says of ${*:2}: $sum, not $1"
}

# It answers checks; Examples/Checks/names.sh lets it find peers by a real name server.
smoke_Supervisor() {
    local said="$work/said"
    printf '#!/bin/sh\nwhile :; do echo line; sleep 0.05; done\n' >"$work/loud"
    printf '#!/bin/sh\nsetsid sleep 0.1 &\nexec sleep 1000\n' >"$work/quiet"
    chmod +x "$work/loud" "$work/quiet"
    printf '# programs\nloud %s\nquiet %s\n' "$work/loud" "$work/quiet" >"$work/programs"
    "$bin/Supervisor" "$work/programs" --control "$work/control" --log "$work/log" --log-size 2000 &
    server=$!
    ask() { printf '%s\n' "$1" | timeout 10 nc -N -U "$work/control" >"$said"; }
    timeout 10 bash -c 'until [ -S "$1" ] && grep -q "^loud: line" "$2"; do sleep 0.1; done' - "$work/control" "$work/log" ||
        fail "does not collect output"
    ask status
    local first
    first=$(sed -n 's/^loud runs as process //p' "$said")
    [ "$(wc -l <"$said")" = 2 ] && [ -n "$first" ] || fail "says as its status: $(cat "$said")"
    ask "restart loud"
    ! grep -q "process $first\$" "$said" || fail "does not restart: $(cat "$said")"
    ask "restart none"
    grep -q "there is no program called none" "$said" || fail "restarts what there is not"
    # It hears of the change by itself.
    printf 'loud %s\nother /bin/sleep 1000\n' "$work/loud" >"$work/programs"
    timeout 10 bash -c 'until printf "status\n" | nc -N -U "$1" | tee "$2" | grep "^other" >/dev/null && ! grep -q "^quiet" "$2"; do
        sleep 0.1; done' - "$work/control" "$said" || fail "does not read its file again: $(cat "$said")"
    printf 'other\n' >"$work/programs"
    timeout 10 bash -c 'until grep -q "^supervisor: other has no program, or two" "$1" "$1.1" 2>/dev/null; do sleep 0.1; done' \
        - "$work/log" || fail "does not say what is wrong with its file"
    printf 'loud %s\nlate %s\n' "$work/loud" "$work/late" >"$work/programs"
    timeout 10 bash -c 'until grep -q "^supervisor: cannot start .*/late: " "$1" "$1.1" 2>/dev/null; do sleep 0.1; done' \
        - "$work/log" || fail "does not say which program cannot be started"
    cp "$work/quiet" "$work/late"
    kill -HUP "$server"
    timeout 10 bash -c 'until printf "status\n" | nc -N -U "$1" | grep "^late runs" >/dev/null; do sleep 0.1; done' - \
        "$work/control" || fail "does not read its file at SIGHUP"
    timeout 20 bash -c 'until [ -f "$1.1" ]; do sleep 0.1; done' - "$work/log" || fail "does not begin a new file"
    kill -TERM "$server"
    timeout 10 tail --pid=$server -f /dev/null || fail "still runs after the signal"
    wait $server || fail "ended with status $?"
    server=
    ! pgrep -f "$work/loud" >/dev/null || fail "leaves a program running"
    [ ! -e "$work/control" ] || fail "leaves its socket behind"
    expect_refusal "$work/none"
    printf 'alone\n' >"$work/programs"
    expect_refusal "$work/programs"
    printf 'quiet %s\nwrong /no/such/program\n' "$work/quiet" >"$work/programs"
    expect_refusal "$work/programs"
    ! pgrep -f "$work/quiet" >/dev/null || fail "leaves a program running when it is refused"
    first_process
}

# As process 1, it reaps what its programs leave to it, and nothing is left of its namespace when it ends.
first_process() {
    local first left
    printf '#!/bin/sh\nfor i in 1 2 3; do setsid sh -c "sleep 0.2 & sleep 0.1" & done; wait; echo left; exec sleep 1000\n' \
        >"$work/leaves"
    chmod +x "$work/leaves"
    printf 'leaves %s\n' "$work/leaves" >"$work/programs"
    unshare --pid --mount-proc --fork --kill-child "$bin/Supervisor" "$work/programs" --control "$work/control" >"$work/out" &
    server=$!
    timeout 10 bash -c 'until grep -q "^leaves: left" "$1"; do sleep 0.1; done' - "$work/out" ||
        fail "does not run as process 1: $(cat "$work/out")"
    first=$(pgrep -P "$server")
    timeout 10 bash -c 'until [ "$(ps -o stat= --ppid "$1" | wc -l)" = 1 ]; do sleep 0.1; done' - "$first" ||
        fail "does not reap orphans: $(ps -o pid,stat,args --ppid "$first")"
    ps -o stat= --ppid "$first" | grep '^S' >/dev/null || fail "has reaped its own program"
    left=$(pgrep -P "$first")
    kill -TERM "$first"
    timeout 10 tail --pid="$server" -f /dev/null || fail "still runs as process 1 after the signal"
    wait "$server" || fail "ended as process 1 with status $?"
    server=
    grep -q '^supervisor: leaves ended with signal 15$' "$work/out" || fail "says of its end: $(tail -n 2 "$work/out")"
    ! kill -0 "$left" 2>/dev/null || fail "leaves a program running as process 1"
}

smoke_Heartbeat() {
    : >"$work/out"
    "$bin/Heartbeat" --port 0 >>"$work/out" &
    server=$!
    local address
    address=$(timeout 10 grep -m1 '^answering on ' <(tail -n +1 -f --pid=$server "$work/out")) ||
        fail "does not say where it answers"
    [ "$(printf 'ping 7' | timeout 10 socat -t 1 - "UDP:${address#answering on }")" = "pong 7" ] ||
        fail "does not answer a check"
    kill -TERM "$server"
    wait "$server" || fail "ended with status $?"
    server=
    expect_refusal --interval 0
    expect_refusal --name-server nowhere
    expect_refusal --host example.invalid
}

smoke_CHost() {
    [ "$(timeout 60 "$bin/CHost")" = "C host: passed" ] || fail "does not pass"
}

second_signal() {
    timeout 5 bash -c "while nc -z $host $port; do :; done" || fail "accepts after the signal"
    ! timeout 0.5 tail --pid=$server -f /dev/null || fail "ends before its deadline"
    kill -INT "$server"
}

# What was connected before the signal goes on; new connections are refused.
finish_client() {
    local line
    timeout 5 bash -c "while nc -z $host $port; do :; done" || fail "accepts after the signal"
    ! timeout 0.5 tail --pid=$server -f /dev/null || fail "ends before its client"
    echo "still here" >&"$client"
    read -r -t 5 -u "$client" line && [ "$line" = "still here" ] || fail "does not let a connection finish"
    exec {client}>&-
}

for part in EchoServer encryption PortForwarder limits loops systemd Observed Replica Heartbeat Supervisor CHost; do
    example=$part
    "smoke_$part"
    echo "$part: works"
done
