internal import CFuturesSystem
internal import Futures
internal import Glibc

/// Sends `text` as one message, without waiting, to the socket on which a service manager such as systemd listens.
/// `name` is a path from the root, or `@` and an abstract name. Throws `FutureError.invalidArgument` for any other name.
func send(_ text: String, toNotifySocket name: String) throws {
    let start = name.utf8.first
    try requireArgument(
        name.utf8.count > 1 && (start == UInt8(ascii: "/") || start == UInt8(ascii: "@")),
        "NOTIFY_SOCKET is \(name.debugDescription), which is neither an absolute path nor @ followed by a name"
    )
    try requireArgument(
        name.utf8.count <= 107,
        "NOTIFY_SOCKET has \(name.utf8.count) bytes, but the system allows 107: \(name.debugDescription)")
    let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw SystemError(-errno, "notify") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    let sent = unsafe SocketAddress(canonicalPath: name).withSocketAddress { address, length in
        unsafe CInt(sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), address, length))
    }
    guard sent == bytes.count else { throw SystemError(-errno, "notify") }
}
