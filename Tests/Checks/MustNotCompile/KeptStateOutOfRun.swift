// expect: type 'Session' does not conform to the 'Sendable' protocol
import UVFutures

final class Session {
    var name = ""
}

actor Owner {
    let loop: EventLoop
    let session = Session()

    init(on loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}

func carry(from owner: Owner) async throws -> Session {
    try await owner.loop.run { owner.assumeIsolated { $0.session } }
}
