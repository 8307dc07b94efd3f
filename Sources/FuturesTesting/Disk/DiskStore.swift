internal import Futures
internal import SystemIO

/// The state of a simulated disk, for the handles of open files, which may be released on any thread.
final class DiskStore: Sendable {
    private let state = Locked(DiskState())

    @discardableResult
    func with<Value: Sendable, Failure>(
        _ body: (inout DiskState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock(body)
    }
}

/// An open file or directory of a simulated disk. The last reference closes it.
final class OpenInode: Sendable {
    let store: DiskStore
    let inode: UInt64
    let number: UInt64
    private let mount: Int

    /// Opens a directory, or the file with the name `name`, in a change of `state`.
    init(_ inode: UInt64, by name: DiskName? = nil, _ store: DiskStore, _ state: inout DiskState) {
        (self.inode, self.store, mount) = (inode, store, state.mount)
        number = state.opened(inode, by: name)
    }

    deinit { close() }

    func close() { store.with { $0.closed(inode, open: number) } }

    /// Runs `body`, unless the disk fails.
    func run<Value: Sendable>(
        _ operation: DiskState.Operation, _ call: String,
        _ body: (inout DiskState) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try store.with { state throws(SystemError) in
            try state.begin(operation, call, mount: mount)
            return try body(&state)
        }
    }
}
