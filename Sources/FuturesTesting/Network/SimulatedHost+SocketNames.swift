internal import Glibc
internal import SystemIO

/// The name of a socket in the UNIX domain, as a host knows it.
enum SocketName: Hashable {
    /// The inode of the file of the socket.
    case file(UInt64)
    /// An abstract name. Each socket class has its own abstract names.
    case abstract(SocketAddress, ObjectIdentifier)
}

/// A socket that can have a name in the UNIX domain.
protocol NamedSocket: SimulatedHandle {
    var name: SocketName? { get }
    var nameAddress: SocketAddress? { get }
}

extension SimulatedHost {
    /// Finds the socket of this class at `address`. Throws an error with the code of the system's refusal.
    func socket<Socket: NamedSocket>(
        at address: SocketAddress, _ type: Socket.Type = Socket.self
    ) throws(SystemError) -> Socket {
        let socket = sockets.named[try name(of: address, type)]
        if let socket = socket as? Socket { return socket }
        throw SystemError(
            socket == nil ? .connectionRefused : SystemError.Code(rawValue: -EPROTOTYPE), "connect")
    }

    private func name<Socket>(of address: SocketAddress, _: Socket.Type) throws(SystemError) -> SocketName {
        if address.isAbstract { return .abstract(address, ObjectIdentifier(Socket.self)) }
        return try disk.atOnce { state throws(SystemError) in
            try state.begin(.read, "connect", mount: state.mount)
            let path = RelativePath(checked: address.path!)
            let found = try state.find(path, followsLink: true, "connect")
            guard let inode = found.inode else { throw SystemError(.notFound, "connect") }
            return .file(inode)
        }
    }

    /// Creates the name of a socket of this class.
    func makeName<Socket: NamedSocket>(
        _ address: SocketAddress, permissions: UInt32?, _ operation: String, _ type: Socket.Type,
        _ driver: VirtualDriver
    ) throws -> SocketName {
        // The socket has its descriptor before it has a name.
        sockets.descriptors += 1
        defer { sockets.descriptors -= 1 }
        guard address.isAbstract else {
            return .file(try makeFile(address, permissions, operation, driver))
        }
        let name = SocketName.abstract(address, ObjectIdentifier(type))
        guard sockets.named[name] == nil else { throw SystemError(.addressInUse, operation, local: address) }
        return name
    }

    /// Creates the file of a socket. Replaces a file whose socket nobody has open, as the library does.
    private func makeFile(
        _ address: SocketAddress, _ permissions: UInt32?, _ operation: String, _ driver: VirtualDriver
    ) throws -> UInt64 {
        let path = RelativePath(checked: address.path!)
        if let made = try tryMakeFile(address, path, permissions, operation) { return made }
        guard let left = disk.store.with({ $0.socket(at: path) }) else {
            throw address.takenByFile(operation)
        }
        if try isDeserted(address, driver) {
            try disk.atOnce { state in state.removeSocket(path, left) }
            if let made = try tryMakeFile(address, path, permissions, operation) { return made }
        }
        throw SystemError(.addressInUse, operation, local: address)
    }

    private func tryMakeFile(
        _ address: SocketAddress, _ path: RelativePath, _ permissions: UInt32?, _ operation: String
    ) throws(SystemError) -> UInt64? {
        do throws(SystemError) {
            return try disk.atOnce { state throws(SystemError) in
                try state.makeSocket(path, permissions: permissions, operation)
            }
        } catch {
            throw SystemError(error.code, error.operation, local: address)
        }
    }

    /// Whether nobody has the socket at `address` open. A listener that has it open sees a connection that has ended.
    private func isDeserted(_ address: SocketAddress, _ driver: VirtualDriver) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try driver.connect(toPath: address).close(resetting: false)
            return false
        } catch {
            guard error.code != .tooManyOpenFiles else {
                throw SystemError(error.code, "listen", peer: address)
            }
            return error.code == .connectionRefused
        }
    }

    /// Removes the file of a socket that its program has closed. If the program ends first, the file stays.
    func removeFile(of socket: some NamedSocket) {
        guard case .file(let inode)? = socket.name, let path = socket.nameAddress?.path else { return }
        try? disk.atOnce { state in state.removeSocket(RelativePath(checked: path), inode) }
    }
}
