internal import Futures

/// Runs the operations of one open file or directory on the file pool, and closes it.
final class FileOperations<Handle: Sendable> {
    let loop: LoopCore
    let name: FileName
    /// The kind and the name, such as `file a.txt below spool`.
    let title: String
    private var lease: Lease<Handle>?
    private var closing: Future<Void>?

    init(_ handle: Handle, _ kind: String, _ name: FileName, on loop: LoopCore) {
        self.loop = loop
        self.name = name
        title = kind == "file" ? "file \(name.path) below \(name.directory)" : "directory \(name.directory)"
        lease = Lease(handle)
        loop.files.lines[ObjectIdentifier(self)] = title
        if loop.isObserved { loop.tell(.opened(title)) }
    }

    deinit {
        guard lease != nil else { return }
        loop.checkThread()
        ended()
    }

    var isOpen: Bool { lease != nil }

    /// Runs `body` on a thread of the file pool, unless `check` throws. If the future is cancelled before `body`
    /// starts, `body` does not run. If it is cancelled later, the value is dropped.
    func run<Value: Sendable>(
        _ operation: String, _ name: FileName? = nil, requiring check: @autoclosure () throws -> Void = (),
        _ body: @escaping @Sendable (Handle) throws -> Value
    ) -> Future<Value> {
        return loop.attempt {
            let (lease, name) = (try borrow(), name ?? self.name)
            try check()
            return loop.runOnDisk(operation, name) { try body(lease.handle) }
        }
    }

    /// Returns a lease of the handle. The file stays open until the last reference to the lease is released.
    func borrow() throws(FutureError) -> Lease<Handle> {
        loop.checkThread()
        guard let lease else { throw .closed(title) }
        return lease
    }

    /// Closes the file after the operations that have started. All calls return the same outcome.
    func close(_ body: @escaping @Sendable (Handle) throws -> Void) -> Future<Void> {
        loop.checkThread()
        if let closing { return closing.branch() }
        let lease = lease.take()!
        let unused = loop.makeRemotePromise(of: Void.self)
        lease.whenUnused(unused)
        let (handle, name) = (lease.handle, name)
        let promise = loop.makePromise(of: Void.self)
        promise.isCalled("the close of \(title)")
        closing = promise.future
        // After that, because an observer may close the file again.
        ended()
        unused.future.flatMap { [loop] in loop.runOnDisk("close", name) { try body(handle) } }
            .whenComplete { promise.completeLast($0) }
        return promise.future.branch()
    }

    private func ended() {
        loop.files.lines[ObjectIdentifier(self)] = nil
        if loop.isObserved { loop.tell(.closed(title, failure: nil)) }
    }
}

extension LoopCore {
    /// Runs `body` on a thread of the file pool, and turns its `SystemError` into a `FileError`.
    func runOnDisk<Value: Sendable>(
        _ operation: String, _ name: FileName, _ body: @escaping @Sendable () throws -> Value
    ) -> Future<Value> {
        let running = files.operations.begin()
        return RemoteContext.files.execute(on: self) {
            // Before the future completes.
            defer { running.end() }
            return try body()
        }
        .mapError { error in
            guard let error = error as? SystemError else { return error }
            return FileError(operation, name, error.code, error.operation)
        }
    }
}

/// The use of a handle by operations. Releasing the last reference ends it, on any thread.
final class Lease<Handle: Sendable>: Sendable {
    let handle: Handle
    private let promise = Locked<RemotePromise<Void>?>(nil)

    init(_ handle: Handle) { self.handle = handle }

    deinit { promise.withLock { $0 }?.succeed() }

    func whenUnused(_ promise: RemotePromise<Void>) { self.promise.withLock { $0 = promise } }
}
