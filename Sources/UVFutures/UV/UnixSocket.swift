internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// The functions that make sockets of the UNIX domain without libuv. Before version 1.46, libuv cuts off long
/// paths and has no abstract names.
enum UnixSocket {
    // MARK: Connecting

    /// Connects at once, or throws an error. The error is `EAGAIN` if the server's backlog is full.
    static func connect(to address: SocketAddress, on driver: UVLoop) throws(SystemError) -> UVPipe {
        let descriptor = try makeSocket(SOCK_STREAM, peer: address, "connect")
        do throws(SystemError) {
            guard unsafe address.withSocketAddress({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
                throw SystemError(-errno, "connect", local: nil, peer: address)
            }
            let local = try SocketAddress.local(of: descriptor, "connect")
            let pipe = try UVPipe(driver, adopting: descriptor)
            pipe.localAddress = local
            pipe.peerAddress = address
            return pipe
        } catch {
            close(descriptor)
            throw SystemError(error.code, "connect", local: nil, peer: address)
        }
    }

    // MARK: Listening

    static func listen(
        _ address: SocketAddress, _ options: ListenOptions, on driver: UVLoop
    ) throws -> UVListener {
        try open(try makeSocket(SOCK_STREAM, peer: address, "listen"), "listen", address, options.permissions)
        { descriptor, file in
            guard Glibc.listen(descriptor, CInt(options.backlog)) == 0 else {
                throw SystemError(-errno, "listen", local: address, peer: nil)
            }
            let listener = try UVListener(
                driver, adopting: descriptor, address, capacity: options.backlog + 1)
            if let file { listener.beforeClose = { file.remove() } }
            return listener
        }
    }

    /// Makes a socket that is connected to `peer`, if that is not `nil`.
    static func bindDatagrams(
        _ address: SocketAddress, permissions: UInt32?, to peer: SocketAddress?, on driver: UVLoop
    ) throws -> UVDatagrams {
        try open(try makeSocket(SOCK_DGRAM, peer: address, "bind"), "bind", address, permissions) {
            descriptor, file in
            if let peer, unsafe peer.withSocketAddress({ unsafe Glibc.connect(descriptor, $0, $1) }) != 0 {
                throw SystemError(-errno, "connect", local: address, peer: peer)
            }
            let socket = try UVDatagrams(driver, adopting: descriptor)
            if let file { socket.beforeClose = { file.remove() } }
            return socket
        }
    }

    /// Binds a socket to `address`, and calls `body` with the socket and with its file, if the address has one. If this
    /// throws, closes the socket and removes the file.
    private static func open<Opened>(
        _ descriptor: CInt, _ operation: String, _ address: SocketAddress, _ permissions: UInt32?,
        _ body: (CInt, SocketFile?) throws -> Opened
    ) throws -> Opened {
        var file: SocketFile?
        do {
            // From the start, the file has no more than these permissions. The umask may remove some of them.
            // `setPermissions` restores those before the socket listens.
            if let permissions { fchmod(descriptor, permissions) }
            try bind(descriptor, to: address, operation)
            if !address.isAbstract {
                file = SocketFile(address.path!)
                if let permissions { try file?.setPermissions(permissions, address) }
            }
            return try body(descriptor, file)
        } catch {
            file?.remove()
            close(descriptor)
            throw error
        }
    }

    private static func bind(_ descriptor: CInt, to address: SocketAddress, _ operation: String) throws {
        func tryBind() -> Bool {
            unsafe address.withSocketAddress { unsafe Glibc.bind(descriptor, $0, $1) } == 0
        }
        if tryBind() { return }
        let failure = SystemError(-errno, operation, local: address, peer: nil)
        guard failure.code == .addressInUse, !address.isAbstract, let path = address.path else {
            throw failure
        }
        guard let left = SocketFile(path) else { throw address.takenByFile(operation) }
        guard try isDeserted(address) else { throw failure }
        left.remove()
        if !tryBind() { throw SystemError(-errno, operation, local: address, peer: nil) }
    }

    /// Whether no process has the socket at `address` open any more. A socket for datagrams answers a stream that it is
    /// of another type.
    private static func isDeserted(_ address: SocketAddress) throws(SystemError) -> Bool {
        let probe = try makeSocket(SOCK_STREAM, peer: address, "listen")
        defer { close(probe) }
        let status = unsafe address.withSocketAddress { unsafe Glibc.connect(probe, $0, $1) }
        return status != 0 && errno == ECONNREFUSED
    }
}

/// The file of a socket. If another file has replaced this file, the methods do not change the other file.
private struct SocketFile {
    private let path: RelativePath
    private let identity: FileIdentity
    private let permissions: UInt32

    /// Finds the file at `path`. Returns `nil` if the file is not a socket. A relative path is resolved now,
    /// so it stays right when the working directory changes.
    init?(_ path: String) {
        var status = stat()
        let path = RelativePath(checked: path)
        guard unsafe path.withCString({ unsafe lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFSOCK
        else { return nil }
        identity = FileIdentity(status)
        permissions = status.st_mode & 0o777
        if path.isAbsolute {
            self.path = path
        } else {
            let directory = unsafe text(Int(PATH_MAX)) { unsafe getcwd($0, $1) == nil ? -1 : 0 }
            self.path = RelativePath(checked: directory).appending(path)
        }
    }

    /// Removes the file, unless another file has replaced it.
    func remove() {
        var status = stat()
        guard unsafe path.withCString({ unsafe lstat($0, &status) }) == 0,
            FileIdentity(status) == identity
        else { return }
        _ = unsafe path.withCString { unsafe unlink($0) }
    }

    /// Sets the permissions through a descriptor of the file, because another file may have replaced the file
    /// at its path. In that case, throws an error.
    func setPermissions(_ permissions: UInt32, _ address: SocketAddress) throws(SystemError) {
        if permissions == self.permissions { return }
        let file = unsafe path.withCString {
            unsafe open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | open_for_path_only)
        }
        if file < 0, errno != ENOENT { throw SystemError(-errno, "permissions", local: address, peer: nil) }
        defer { if file >= 0 { close(file) } }
        guard file >= 0, FileIdentity(of: file) == identity else {
            throw SystemError(.addressInUse, "listen", local: address, peer: nil)
        }
        let status = change_permissions(file, permissions)
        if status != 0 { throw SystemError(status, "permissions", local: address, peer: nil) }
    }
}
