import UVFutures

/// Writes what a replica must not forget, one text after the other.
final class Store {
    private let loop: EventLoop
    private let write: @Sendable (String) throws -> Void
    private var newest: Saved
    private var stored: Future<Void>

    init(_ saved: Saved, on loop: EventLoop, write: @escaping @Sendable (String) throws -> Void) {
        self.loop = loop
        self.write = write
        newest = saved
        stored = loop.succeeded()
    }

    /// Completes when `saved` is stored. The disk may be slow: the loop does not wait for it.
    func save(_ saved: Saved) -> Future<Void> {
        guard saved != newest || stored.isFailure else { return stored.branch() }
        newest = saved
        stored = stored.flatMapResult { [loop, write] _ in
            loop.succeeded("\(saved)").map(on: .pool) { text in try write(text) }
        }
        stored.ignoreFailure()
        return stored.branch()
    }
}
