#!/bin/bash
# Lets each host use the library, and expects its own last word: a C program, Node.js, Python's uvloop, Lua and Neovim.
# usage: hosts.sh [--build] FLAGS...    with --build, only builds Node's addon
set -euo pipefail
shopt -s inherit_errexit

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
release=Examples/.build/release
if [ "$1" = --build ]; then only_build=yes && shift; else only_build=; fi
flags=("$@")

passes() {
    local word=$1 said
    shift
    said=$(timeout 120 "$@") && [[ ${said##*$'\n'} == "$word" ]] ||
        { echo "$*: said $said, not: $word" >&2; exit 1; }
    echo "$word"
}

node=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
# It and the guide's addon, further down, find the library by the same path and build in the same place, and so share it.
addons=$PWD/.build-hosts
rm -rf "$addons/addon" "$addons/program" "$addons/example"
mkdir -p "$addons/addon" "$addons/program" "$addons/build"
ln -sfn .. "$addons/swift-uv-futures"
ln -s ../build "$addons/addon/.build"
ln -s ../build "$addons/program/.build"
mkdir "$addons/example"
cp -rp Examples/NodeAddon/Package.swift Examples/NodeAddon/Sources "$addons/example"
sed -i 's|path: "../.."|path: "../swift-uv-futures"|' "$addons/example/Package.swift"
swift build -c release --package-path "$addons/example" --scratch-path "$addons/build" "$@" \
    -Xcc "-idirafter$node/include/node"
[ -z "$only_build" ] || exit 0

swift build -c release --package-path Examples "$@"
passes "C host: passed" "$release/CHost"
clang -O1 -Wall -Werror Examples/Checks/Hosts/unload.c -o "$work/unload" -luv
passes "C host, unload: passed" "$work/unload" "$release/libEchoLibrary.so"

cp "$addons/build/release/libNodeAddon.so" "$work/swift.node"
for mode in main worker workers terminated; do
    passes "Node: passed" node --expose-gc Examples/NodeAddon/test.js "$work/swift.node" "$mode"
done
guide=Sources/UVFutures/Documentation.docc/HostNode.md
passes "Node, order: passed" node Examples/NodeAddon/order.js "$work/swift.node" "$guide"

# An addon that Node unloads, which forgets to detach if it is told so.
clang -O1 -Wall -Werror -shared -fPIC "-idirafter$node/include/node" Examples/Checks/Hosts/addon.c -o "$work/addon.node" \
    -L "$release" -lEchoLibrary "-Wl,-rpath,$PWD/$release"
passes "Node, unload: passed" node Examples/Checks/Hosts/addon.js "$work/addon.node"
if FORGET=1 SWIFT_BACKTRACE=enable=no timeout 120 node Examples/Checks/Hosts/addon.js "$work/addon.node" 2>"$work/report"; then
    echo "Node: a worker that does not detach ends" >&2
    exit 1
fi
grep -q "call_detach_on_the_event_loop_and_wait_for_its_future" "$work/report" ||
    { cat "$work/report" >&2; echo "Node: a worker that does not detach ends without a sentence" >&2; exit 1; }

# What the guide shows of the example is in it, and the package that it shows is built and loaded as it says.
# Whether each line of the excerpts of a guide is in the files.
shows() {
    local guide=$1
    shift
    ! awk '/^```/ { isShown = $0 ~ /^```(swift|lua) excerpt$/; next } isShown && NF { sub(/^ */, ""); print }' "$guide" |
        grep -vxFf <(sed 's/^ *//' "$@") || { echo "$guide shows what is not in the example" >&2; exit 1; }
}
shows "$guide" Examples/NodeAddon/Sources/NodeAddon/*.swift
# Makes the files of the package that a guide shows, and runs the commands that it shows.
# usage: packaged GUIDE FOLDER
packaged() (
    exec <"$1"
    swift() { command swift "$@" "${flags[@]}" --scratch-path "$addons/build" >&2; }
    cd "$2"
    awk '/^`[^`]*`:$/ { file = substr($0, 2, length($0) - 3); dir = file; if (sub("/[^/]*$", "", dir)) system("mkdir -p " dir); next }
        /^```sh$/ { file = "commands" }
        /^```/ { isShown = file != "" && !isShown; if (!isShown) file = ""; next }
        isShown { print > file }'
    . ./commands
)
said=$(packaged "$guide" "$addons/addon")
[[ $said == *"is negative"*$'\n'slept ]] || { echo "Node: the guide's addon says $said" >&2; exit 1; }
echo "Node, guide: passed"
said=$(packaged Sources/UVFutures/Documentation.docc/HostC.md "$addons/program")
[[ $said == slept$'\n'detached ]] || { echo "C: the guide's program says $said" >&2; exit 1; }
echo "C, guide: passed"

# As many system calls for many promises as for few.
if strace -c -o "$work/none" true 2>/dev/null; then
    calls() {
        PROMISES=$1 strace -f -c -o "$work/calls" node --expose-gc Examples/NodeAddon/test.js "$work/swift.node" >/dev/null
        awk 'END { print $3 == "total" ? $2 : $4 }' "$work/calls"
    }
    few=$(calls 10000) many=$(calls 50000)
    echo "Node: $few system calls with 2 x 10,000 promises, $many with 2 x 50,000"
    ((many < few + 20000)) || { echo "Node: promises make system calls" >&2; exit 1; }
else
    echo "Node: system calls not counted, ptrace is not permitted"
fi

# Which OpenSSL answers: that of the system, in a program and in Python, or that of Node, which comes before. If only a part is the
# host's own, it is refused.
Examples/certificates.sh "$work/certificates" >/dev/null
export CERTIFICATES=$work/certificates
tls() { clang -O1 -Wall -Werror Examples/Checks/Hosts/tls.c -L "$release" -lTLSLibrary "-Wl,-rpath,$PWD/$release" "$@"; }
said() {
    local wanted=$1 said
    shift
    said=$(timeout 60 "$@") && [[ $said == $wanted ]] || { echo "$*: said $said, not: $wanted" >&2; exit 1; }
}
tls -o "$work/tls"
said "TLS 1.3, hello; OpenSSL of */libssl.so.3" "$work/tls" "$CERTIFICATES"
tls -DADDON -shared -fPIC "-idirafter$node/include/node" -o "$work/tls.node"
said "TLS 1.3, hello; OpenSSL of node" node -p "require('$work/tls.node')"
tls -shared -fPIC -o "$work/tls.so"
said "TLS 1.3, hello; OpenSSL of */libssl.so.3" /usr/bin/python3 -c "
import ctypes, ssl
ssl.create_default_context()
say = ctypes.CDLL('$work/tls.so').tls_say
say.restype = ctypes.c_char_p
print(say(b'$CERTIFICATES').decode())"
tls -DSTRAY -rdynamic -o "$work/stray"
said "OpenSSL comes from */libssl.so.3 and */libcrypto.so.3, but SSL_shutdown from $work/stray; load only one OpenSSL 3*" \
    "$work/stray" "$CERTIFICATES"
echo "OpenSSL: passed"

# Debian's python3 and its uvloop, which share the system's libuv, and the wheel, which carries its own.
python=/usr/bin/python3
passes "Python, attach: passed" "$python" Examples/PythonHost/host.py "$release/libEchoLibrary.so" attach
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m pip download --quiet --no-deps --only-binary :all: --python-version "$version" --dest "$work" uvloop==0.22.1
python3 -m zipfile -e "$work"/uvloop-*.whl "$work/wheel"
PYTHONPATH=$work/wheel passes "Python, refuse: passed" \
    "$python" Examples/PythonHost/host.py "$release/libEchoLibrary.so" refuse
passes "Python, bridge: passed" "$python" Examples/PythonHost/host.py "$release/libEchoLibrary.so" bridge

clang -O1 -Wall -Werror -shared -fPIC $(pkg-config --cflags lua5.4) Examples/LuaHost/swift_echo.c \
    -o "$work/swift_echo.so" -L "$release" -lEchoLibrary -luv "-Wl,-rpath,$PWD/$release"
passes "Lua: passed" lua5.4 Examples/LuaHost/host.lua "$work/swift_echo.so"

# With the flags of the addon, whose build of the library it shares.
rm -rf "$addons/neovim"
mkdir "$addons/neovim"
cp -r Examples/NeovimPlugin/Package.swift Examples/NeovimPlugin/Sources "$addons/neovim"
sed -i 's|path: "../.."|path: "../swift-uv-futures"|' "$addons/neovim/Package.swift"
swift build -c release --package-path "$addons/neovim" --scratch-path "$addons/build" "$@" \
    -Xcc "-idirafter$node/include/node"
cp "$addons/build/release/libNeovimPlugin.so" "$work"
export LIBRARY=$work/libNeovimPlugin.so
neovim=(nvim --headless --clean --cmd 'set runtimepath+=Examples/NeovimPlugin')
shows Sources/UVFutures/Documentation.docc/HostNeovim.md Examples/NeovimPlugin/{Sources/NeovimPlugin/*.swift,lua/*.lua}
passes "Neovim: passed" "${neovim[@]}" -c 'luafile Examples/NeovimPlugin/test.lua' </dev/null

# While nothing happens, the library makes Neovim call the system no more often.
if strace -c -o "$work/none" true 2>/dev/null; then
    idle() {
        strace -f -c -o "$work/calls" "${neovim[@]}" "$@" -c 'call timer_start(2000, { -> execute("qall!") })' </dev/null
        awk 'END { print $3 == "total" ? $2 : $4 }' "$work/calls"
    }
    without=$(idle) with=$(idle -c 'lua require("finder").setup { library = vim.env.LIBRARY }')
    echo "Neovim: $without system calls without the library, $with with it"
    ((with < without + 1000)) || { echo "Neovim: the library makes system calls while nothing happens" >&2; exit 1; }
fi
