#!/bin/bash
# Makes certificates with which to try encrypted connections by hand: of an authority (ca.pem), of a server for localhost,
# 127.0.0.1 and ::1 (server.pem), and of a client (client.pem), each with its key (ca.key and so on). They are valid for a
# year. Overwrites nothing. With --rsa the keys are RSA of 2048 bits, else of the curve P-256. With --crl the certificates
# say that the authority has its list of revoked ones there.
# usage: certificates.sh [--rsa] [--crl ADDRESS] DIRECTORY
set -euo pipefail
umask 077

usage() {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
}

kind=(ec -pkeyopt ec_paramgen_curve:P-256) list=
while [[ ${1-} == -* ]]; do
    case $1 in
    --rsa) kind=(rsa:2048) ;;
    --crl) list=${2-} && [ -n "$list" ] || usage && shift ;;
    *) usage ;;
    esac
    shift
done
[ $# = 1 ] && [ -n "$1" ] || usage
directory=$1

for file in {ca,server,client}.{pem,key}; do
    if [ -e "$directory/$file" ]; then
        echo "$directory/$file is there already; give another directory, or remove it" >&2
        exit 1
    fi
done
mkdir -p "$directory"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Makes the files of one of them, from its name, its subject and its extensions.
certify() {
    local name=$1 subject=$2 signs=()
    [ "$name" = ca ] || signs=(-CA "$directory/ca.pem" -CAkey "$directory/ca.key")
    {
        printf '[req]\ndistinguished_name=name\nx509_extensions=extensions\n[name]\n[extensions]\n'
        printf '%s\n' "${@:3}" subjectKeyIdentifier=hash
        [ "$name" = ca ] || echo authorityKeyIdentifier=keyid
        [ "$name" = ca ] || [ -z "$list" ] || echo "crlDistributionPoints=URI:$list"
    } >"$work/conf"
    openssl req -x509 -config "$work/conf" -newkey "${kind[@]}" -nodes -sha256 -days 365 -subj "/CN=$subject" \
        "${signs[@]}" -keyout "$directory/$name.key" -out "$directory/$name.pem" 2>"$directory/$name.log" ||
        { cat "$directory/$name.log" >&2; exit 1; }
    rm "$work/conf" "$directory/$name.log"
}

certify ca "An authority to try things with" basicConstraints=critical,CA:true keyUsage=critical,keyCertSign,cRLSign
certify server localhost basicConstraints=critical,CA:false keyUsage=critical,digitalSignature extendedKeyUsage=serverAuth \
    subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1
certify client "A client" basicConstraints=critical,CA:false keyUsage=critical,digitalSignature extendedKeyUsage=clientAuth
chmod 644 "$directory"/{ca,server,client}.pem
echo "made $directory/{ca,server,client}.{pem,key}"
