internal import Futures

/// A connection that a ``ConnectionPool`` has lent. It counts against the limit of the pool until it is given back.
///
/// Call ``release()`` if the next user can begin where you have ended, and ``discard()`` otherwise. If the lease is
/// deallocated before either call, the connection is discarded. ``ConnectionPool/with(_:)`` does all of this.
public final class PoolLease<Connection: PooledConnection> {
    public let connection: Connection
    private var pool: ConnectionPool<Connection>?
    private let permit: Permit

    init(_ connection: Connection, of pool: ConnectionPool<Connection>, _ permit: Permit) {
        self.connection = connection
        self.pool = pool
        self.permit = permit
    }

    deinit { discard() }

    /// Gives the connection back. The pool lends it again, unless it has ended, or bytes have come that nobody has read. A
    /// second call does nothing.
    public func release() { end(isUsable: true) }

    /// Aborts the connection. The pool can make another one in its place. A second call does nothing.
    public func discard() { end(isUsable: false) }

    private func end(isUsable: Bool) {
        guard let pool = pool.take() else { return }
        pool.takeBack(connection, isUsable: isUsable)
        permit.release()
    }
}

@available(*, unavailable, message: "A lease belongs to its loop's thread; go there with loop.execute { … }.")
extension PoolLease: Sendable {}
