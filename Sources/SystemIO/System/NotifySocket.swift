internal import CFuturesSystem
internal import Futures
internal import Glibc

/// The socket on which a service manager such as systemd listens.
struct NotifySocket {
    private let address: SocketAddress

    /// Reads the name of the socket: a path from the root, or `@` and an abstract name. Throws
    /// `FutureError.invalidArgument` for any other name.
    init(_ name: String) throws {
        let bytes = name.utf8
        guard bytes.count > 1, bytes.first == UInt8(ascii: "/") || bytes.first == UInt8(ascii: "@") else {
            throw FutureError.invalidArgument(
                "NOTIFY_SOCKET is \(name.debugDescription), which is neither an absolute path nor @ followed by a name"
            )
        }
        guard bytes.count <= 107 else {
            throw FutureError.invalidArgument(
                "NOTIFY_SOCKET has \(bytes.count) bytes, but the system allows 107: \(name.debugDescription)")
        }
        address = SocketAddress(canonicalPath: name)
    }

    /// Sends `text` as one message, without waiting.
    func send(_ text: String) throws(SystemError) {
        let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SystemError(-errno, "notify") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let sent = unsafe address.withSocketAddress { address, length in
            unsafe CInt(sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), address, length))
        }
        guard sent == bytes.count else { throw SystemError(-errno, "notify") }
    }
}
