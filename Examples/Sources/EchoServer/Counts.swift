import Synchronization
import UVFutures

/// What all loops count.
final class Counts: Sendable {
    private let connectionCount = Atomic(0)
    private let byteCount = Atomic(0)
    private let failureCount = Atomic(0)

    var connections: Int { connectionCount.load(ordering: .relaxed) }
    var bytes: Int { byteCount.load(ordering: .relaxed) }
    var failures: Int { failureCount.load(ordering: .relaxed) }

    func connected(_ connection: SocketConnection) {
        connectionCount.add(1, ordering: .relaxed)
        connection.closed.whenComplete { [self] _ in
            byteCount.add(connection.bytesSent, ordering: .relaxed)
        }
    }
    func failed() { failureCount.add(1, ordering: .relaxed) }
}
