public import Futures

/// An advisory lock of a whole file. Other programs, and other open files of this one, respect it if they lock the
/// file, too.
///
/// The lock ends with ``release()``, with ``File/close()``, or when the last reference is released. It keeps the
/// descriptor of its file open, even if you release the ``File``.
public final class FileLock {
    /// The way a lock excludes others.
    public enum Mode: Hashable, Sendable {
        /// Nobody else may have a lock.
        case exclusive
        /// Others may have a shared lock, too. The file must be open for reading.
        case shared
    }

    public let mode: Mode
    private let loop: LoopCore
    private let name: FileName
    private var hold: FileLockHold?
    private var releasing: Future<Void>?

    fileprivate init(_ hold: FileLockHold, _ mode: Mode, _ file: File) {
        (self.hold, self.mode) = (hold, mode)
        (loop, name) = (file.operations.loop, file.operations.name)
    }

    deinit { if hold != nil { loop.checkThread() } }

    /// Releases the lock, and completes when others can take it. A second call returns the same outcome.
    @discardableResult
    public func release() -> Future<Void> {
        loop.checkThread()
        guard let hold = hold.take() else { return releasing!.branch() }
        let releasing = loop.runOnDisk("unlock", name) { try hold.release() }
        self.releasing = releasing
        return releasing.branch()
    }
}

@available(*, unavailable, message: "A lock belongs to its loop's thread; go there with loop.execute { … }.")
extension FileLock: Sendable {}

extension File {
    /// Acquires a lock of the file, and completes with it. Waits while another owner holds a conflicting lock.
    ///
    /// Tries again after 1 ms, 2 ms, 4 ms and so on, and then every 100 ms. Cancelling ends the wait. Waiting callers
    /// are not served in order. Fails with ``FileError``, for example with ``SystemError/Code/badDescriptor`` for an
    /// `.exclusive` lock of a file that is not open for writing. A ``File`` has at most one lock: a second call waits
    /// until the first lock is released. Calls `fcntl` with `F_OFD_SETLK`.
    public func lock(_ mode: FileLock.Mode) -> Future<FileLock> {
        lock(mode, lookingAgainAfter: .milliseconds(1))
    }

    private func lock(_ mode: FileLock.Mode, lookingAgainAfter delay: Duration) -> Future<FileLock> {
        let loop = operations.loop
        return tryLock(mode).flatMap { [self] lock -> Future<FileLock> in
            if let lock { return loop.succeeded(lock) }
            return loop.sleep(for: delay).flatMap { [self] in
                self.lock(mode, lookingAgainAfter: min(delay * 2, .milliseconds(100)))
            }
        }
    }

    /// Acquires a lock of the file, and completes with it. Completes with `nil` if another owner holds a conflicting
    /// lock. Fails as ``lock(_:)`` does.
    public func tryLock(_ mode: FileLock.Mode) -> Future<FileLock?> {
        let state = lockState
        return operations.run("lock") { try state.take($0, exclusive: mode == .exclusive) }
            .map { [self] hold in hold.map { FileLock($0, mode, self) } }
    }
}

/// The lock of one open file, which has at most one.
final class FileLockState: Sendable {
    private enum Phase: Equatable {
        case free
        case taken(ObjectIdentifier)
        case ended
    }

    private let phase = Locked(Phase.free)

    /// Acquires the lock. Returns `nil` if this open file has one already, or if another owner holds a conflicting one.
    fileprivate func take(_ handle: any FileHandle, exclusive: Bool) throws -> FileLockHold? {
        try phase.withLock { phase in
            guard phase == .free else { return nil }
            guard try handle.tryLock(exclusive: exclusive) else { return nil }
            let hold = FileLockHold(handle, self)
            phase = .taken(ObjectIdentifier(hold))
            return hold
        }
    }

    fileprivate func release(_ hold: FileLockHold) throws {
        try phase.withLock { phase in
            guard phase == .taken(ObjectIdentifier(hold)) else { return }
            phase = .free
            try hold.handle.unlock()
        }
    }

    /// Ends the lock by `close`, which closes the file. A release does not touch the descriptor after that.
    func end(_ close: () throws -> Void) throws {
        try phase.withLock { phase in
            phase = .ended
            try close()
        }
    }
}

/// The ownership of a lock. Releasing the last reference releases the lock.
private final class FileLockHold: Sendable {
    fileprivate let handle: any FileHandle
    private let state: FileLockState

    init(_ handle: any FileHandle, _ state: FileLockState) { (self.handle, self.state) = (handle, state) }

    // Releasing a lock does not wait for the disk.
    deinit { try? release() }

    func release() throws { try state.release(self) }
}
