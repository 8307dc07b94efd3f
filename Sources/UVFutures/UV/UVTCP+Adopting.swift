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
        guard let local = try SocketAddress.local(of: descriptor, "adopt"),
            [AF_INET, AF_INET6].contains(local.family)
        else {
            throw FutureError.invalidArgument("\(name) is not a TCP socket; give one that is connected")
        }
        guard let peer = try SocketAddress.peer(of: descriptor, "adopt") else {
            throw FutureError.invalidArgument("\(name) is a socket that is not connected; connect it before")
        }
        return try adopting(descriptor, local, peer, on: driver) { try UVTCP(driver, adopting: $0) }
    }
}

extension UVStream {
    final func readPeerCredentials() throws(SystemError) -> (process: Int32, user: UInt32, group: UInt32) {
        // `struct ucred`, a GNU extension.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        let status = unsafe getsockopt(descriptor ?? -1, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        if status != 0 { throw SystemError(-errno, "peer credentials", local: nil, peer: nil) }
        return credentials
    }

    final func duplicate() throws(SystemError) -> CInt {
        let copy = descriptor.map { fcntl($0, F_DUPFD_CLOEXEC, 3) } ?? -1
        guard copy >= 0 else { throw error(-errno, "release") }
        return copy
    }
}
