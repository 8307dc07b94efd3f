internal import Futures
internal import Glibc

extension UVTCP {
    /// Creates a stream that takes over a connected socket of other code.
    ///
    /// If this throws, the caller keeps the descriptor.
    static func adopting(_ descriptor: CInt, on loop: EventLoop) throws -> UVTCP {
        let driver = try loop.openDriver()
        let name = "descriptor \(descriptor)"
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw FutureError.invalidArgument("\(name) is not open; give one of a connected TCP socket")
        }
        guard let local = SocketAddress(localOf: descriptor), [AF_INET, AF_INET6].contains(local.family)
        else {
            throw FutureError.invalidArgument("\(name) is not a TCP socket; give one that is connected")
        }
        guard let peer = SocketAddress(peerOf: descriptor) else {
            throw FutureError.invalidArgument("\(name) is a socket that is not connected; connect it before")
        }
        return try adopting(descriptor, local, peer, on: driver) { try UVTCP(driver, adopting: $0) }
    }
}

extension UVStream {
    /// Returns a new descriptor of the same socket.
    final func duplicate() throws(UVError) -> CInt {
        let copy = descriptor.map { fcntl($0, F_DUPFD_CLOEXEC, 3) } ?? -1
        guard copy >= 0 else { throw error(-errno, "release") }
        return copy
    }
}
