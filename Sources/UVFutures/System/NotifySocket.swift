internal import CLibUV
internal import Futures
internal import Glibc

/// The socket at which a manager of services listens: a path, or `@` and an abstract name.
struct NotifySocket {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// Throws an invalid argument if the name makes no sense.
    init(_ name: String) throws {
        var bytes = Array(name.utf8)
        guard bytes.count > 1, bytes.first == UInt8(ascii: "/") || bytes.first == UInt8(ascii: "@") else {
            throw FutureError.invalidArgument(
                "NOTIFY_SOCKET is \(name.debugDescription), which is neither a path from the root nor @ and a name"
            )
        }
        guard bytes.count <= 107 else {
            throw FutureError.invalidArgument(
                "NOTIFY_SOCKET has \(bytes.count) bytes, and the system takes 107: \(name.debugDescription)")
        }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        let start = MemoryLayout<sa_family_t>.size
        length = socklen_t(start + bytes.count + (isAbstract ? 0 : 1))
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Sends `text` as one message, without waiting.
    func send(_ text: String) throws(UVError) {
        let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw UVError(-errno, "notify", local: nil, peer: nil) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let sent = unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == bytes.count else { throw UVError(-errno, "notify", local: nil, peer: nil) }
    }
}
