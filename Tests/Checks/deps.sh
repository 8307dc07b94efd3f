#!/bin/bash
# Installs with apt those packages whose work cannot be done yet. Where all can be, it returns at once.
# usage: deps.sh PACKAGE...
set -euo pipefail

present() {
    case $1 in
        libuv1-dev) pkg-config --exists 'libuv >= 1.44' ;;
        libssl-dev) pkg-config --exists 'openssl >= 3' ;;
        systemd) command -v systemd-socket-activate ;;
        binutils) command -v strip ;;
        netcat-openbsd) [[ $(nc -h 2>&1) == *OpenBSD* ]] ;;
        python3-pip) python3 -m pip --version ;;
        # A Node.js that came with its headers; Debian's package of them would remove it.
        libnode-dev) [ -e "$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")/include/node/node_api.h" ] ;;
        nodejs) command -v node ;;
        python3-uvloop) /usr/bin/python3 -c 'import uvloop' ;;
        liblua5.4-dev) pkg-config --exists lua5.4 ;;
        lua-luv) lua5.4 -e 'require "luv"' ;;
        golang-go) command -v go ;;
        bind9-dnsutils) command -v dig ;;
        apache2-utils) command -v ab ;;
        # Debian's python3, for which it is.
        python3-websockets) /usr/bin/python3 -c 'import websockets' ;;
        python3-pycares) /usr/bin/python3 -c 'import pycares' ;;
        python3-h11) /usr/bin/python3 -c 'import h11' ;;
        python3-unbound) /usr/bin/python3 -c 'import unbound' ;;
        redis-tools) command -v redis-benchmark ;;
        python3-redis) /usr/bin/python3 -c 'import redis' ;;
        gnutls-bin) command -v gnutls-cli ;;
        testssl.sh) command -v testssl ;;
        unbound | haproxy) PATH=$PATH:/usr/sbin command -v "$1" ;;
        librust-tokio-dev) compgen -G '/usr/share/cargo/registry/tokio-[0-9]*' ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

if ! present swift; then
    echo "swift is missing: install the toolchain, 6.2 or newer (swift.org/install), and put it on PATH" >&2
    exit 1
fi

missing=()
for package; do present "$package" || missing+=("$package"); done
[ ${#missing[@]} -gt 0 ] || exit 0

root=()
[ "$(id -u)" = 0 ] || root=(sudo -n)
if ! command -v apt-get >/dev/null || ! "${root[@]}" true 2>/dev/null; then
    echo "missing: ${missing[*]}; install with: sudo apt-get install ${missing[*]}" >&2
    exit 1
fi

# Debian starts the service of a server that it installs, and this machine may have one already.
for service in unbound redis-server haproxy; do
    [[ " ${missing[*]} " == *" $service "* ]] && [ ! -e "/etc/systemd/system/$service.service" ] || continue
    "${root[@]}" mkdir -p /etc/systemd/system
    "${root[@]}" ln -s /dev/null "/etc/systemd/system/$service.service"
    echo "$service is installed without its service; to have that: systemctl unmask $service"
done

echo "installing ${missing[*]}"
"${root[@]}" apt-get update -qq || echo "trying with the package lists at hand" >&2
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -o DPkg::Lock::Timeout=300 -qq -y "${missing[@]}" </dev/null >/dev/null
