internal import CFuturesSystem
internal import Futures
internal import Glibc
internal import SystemIO

/// The descriptors of sockets that users have handed over, for the whole process. Each descriptor has one
/// owner.
///
/// Other code can close such a descriptor without the owner's knowledge. The number may then stand for
/// another file. libuv aborts the process when it passes a closed descriptor to the system, and would close
/// the other file. So the owner checks the number before.
enum AdoptedDescriptors {
    /// The owner of a descriptor, and what the descriptor stood for when it was handed over.
    struct Entry {
        private(set) weak var owner: UVHandle?
        let identity: FileIdentity
    }

    private static let all = Locked<[CInt: FileIdentity]>([:])

    /// Calls `adopt`, which takes over the caller's descriptor. If the descriptor is 0, 1 or 2, `adopt` gets
    /// another number. Programs that this process starts do not inherit the descriptor. Throws
    /// `FutureError.invalidArgument` if the descriptor has an owner already. If this throws, the caller keeps
    /// the descriptor.
    static func take<Adopted: UVHandle>(
        _ descriptor: CInt, on driver: UVLoop, _ adopt: (CInt) throws -> Adopted
    ) throws -> Adopted {
        try StandardDescriptors.leave(descriptor) { descriptor in
            guard let identity = FileIdentity(of: descriptor) else { return try adopt(descriptor) }
            try checkHasNoOwner(descriptor, on: driver)
            guard all.withLock({ $0.updateValue(identity, forKey: descriptor) != identity }) else {
                throw refusal(descriptor)
            }
            do {
                let adopted = try adopt(descriptor)
                driver.adopted[descriptor] = Entry(owner: adopted, identity: identity)
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                return adopted
            } catch {
                all.withLock { $0[descriptor] = nil }
                throw error
            }
        }
    }

    /// Throws `FutureError.invalidArgument` if the descriptor has an owner, or is watched.
    static func checkHasNoOwner(_ descriptor: CInt, on driver: UVLoop) throws {
        try checkIsNotOwned(descriptor, on: driver)
        guard driver.watches(descriptor) else { return }
        throw FutureError.invalidArgument("descriptor \(descriptor) is watched; close the watch first")
    }

    /// Throws `FutureError.invalidArgument` if the descriptor has an owner.
    static func checkIsNotOwned(_ descriptor: CInt, on driver: UVLoop) throws {
        guard let identity = FileIdentity(of: descriptor) else { return }
        if all.withLock({ $0[descriptor] == identity }) || driver.has(descriptor) {
            throw refusal(descriptor)
        }
    }

    private static func refusal(_ descriptor: CInt) -> FutureError {
        .invalidArgument(
            "descriptor \(descriptor) belongs to a connection or a listener already; use that, or release() it first"
        )
    }

    fileprivate static func remove(_ descriptor: CInt, _ identity: FileIdentity) {
        all.withLock { if $0[descriptor] == identity { $0[descriptor] = nil } }
    }
}

extension UVHandle {
    /// Whether other code has closed the adopted `descriptor`. The number may stand for another file now.
    final func hasLost(_ descriptor: CInt) -> Bool {
        guard let adopted = driver.adopted[descriptor], adopted.owner === self else { return false }
        return FileIdentity(of: descriptor) != adopted.identity
    }

    /// Runs `close`, which closes `descriptor`. If the number stands for another file by now, keeps the other
    /// file open.
    final func closeAdopted(_ descriptor: CInt, _ close: () -> Void) {
        guard let adopted = driver.adopted[descriptor], adopted.owner === self else { return close() }
        driver.adopted[descriptor] = nil
        let identity = adopted.identity
        let found = FileIdentity(of: descriptor)
        AdoptedDescriptors.remove(descriptor, identity)
        guard found != identity else { return close() }
        loop.reportUnhandled(
            FutureError.invalidArgument(
                "descriptor \(descriptor) was closed while it belonged to this library; release() it before others do "
                    + "that"),
            of: line)
        guard found != nil else { return close() }
        let (flags, copy) = (fcntl(descriptor, F_GETFD), fcntl(descriptor, F_DUPFD_CLOEXEC, 3))
        close()
        guard copy >= 0 else { return }
        if dup2(copy, descriptor) >= 0 { _ = fcntl(descriptor, F_SETFD, flags) }
        Glibc.close(copy)
    }
}

extension UVLoop {
    /// Whether a handle of the loop owns the descriptor.
    fileprivate func has(_ descriptor: CInt) -> Bool {
        unsafe handles.all.contains { $0.ownedDescriptor == descriptor && !$0.hasLost(descriptor) }
    }
}
