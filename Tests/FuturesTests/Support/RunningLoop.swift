import Futures
import TestSupport
import Testing

/// Runs a loop on a thread of its own while `body`, which is elsewhere, uses it. Expects that nothing is left.
func withRunningLoop(
    _ driver: Driver, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (EventLoop) async throws -> Void
) async throws {
    let (loops, handOver) = AsyncThrowingStream.makeStream(of: EventLoop.self)
    startThread {
        let loop = try driver.makeLoop()
        do {
            loop.core.hold()
            defer { loop.core.letGo() }
            loop.submit { handOver.yield(loop) }.whenSuccess { _ in }
            try loop.run()
        }
        try settle(loop)
        expectNothingLeft(on: loop, sourceLocation: sourceLocation)
        loop.shutdown()
    } ended: { result in
        switch result {
        case .success: handOver.finish()
        case .failure(let error): handOver.finish(throwing: error)
        }
    }
    for try await loop in loops {
        defer { loop.stop() }
        try await body(loop)
    }
}
