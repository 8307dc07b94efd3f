import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// What turns the loop of a test. The core keeps its promises on each.
enum Driver: String, CaseIterable, Codable, CustomTestStringConvertible {
    case virtual, libuv

    func makeLoop() throws -> EventLoop {
        switch self {
        // What is to be done very often is done at one instant.
        case .virtual: .virtual(maxCallbacksPerInstant: max(100 * largeCount, 1_000_000))
        case .libuv: try EventLoop()
        }
    }

    var testDescription: String { rawValue }
}

/// Runs `body` on a loop of its own, and expects that it leaves nothing behind.
func withLoop(
    _ driver: Driver, sourceLocation: SourceLocation = #_sourceLocation, _ body: (EventLoop) throws -> Void
) throws {
    weak var freed: LoopCore?
    do {
        let loop = try driver.makeLoop()
        freed = loop.core
        try body(loop)
        if !loop.core.isShutDown { try settle(loop) }
        expectNothingLeft(on: loop, sourceLocation: sourceLocation)
        loop.shutdown()
        expectNothingLeft(on: loop, sourceLocation: sourceLocation)
    }
    // A thread that has completed a future may be about to let go of the loop.
    #expect(eventually { freed == nil }, sourceLocation: sourceLocation)
}

/// The same on a thread of its own, for a body whose tasks need the few threads of Swift's pool: the test waits without
/// holding one of them.
func withLoopOnThread(
    _ driver: Driver, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (EventLoop) throws -> Void
) async throws {
    try await withCheckedThrowingContinuation { continuation in
        startThread {
            try withLoop(driver, sourceLocation: sourceLocation, body)
        } ended: {
            continuation.resume(with: $0)
        }
    }
}

func expectNothingLeft(on loop: EventLoop, sourceLocation: SourceLocation = #_sourceLocation) {
    // What another thread has just let go of may be on its way to the loop.
    let isNothingLeft = eventually {
        let left = loop.statistics
        if left.futures == 0 && left.promises == 0 && left.timers == 0 && left.handles == 0 { return true }
        if !loop.core.isShutDown { try? settle(loop) }
        return false
    }
    #expect(isNothingLeft, "\(loop.statistics)", sourceLocation: sourceLocation)
}

/// Runs what is ready, without waiting for a timer.
func settle(_ loop: EventLoop) throws {
    try loop.run(until: loop.submit {})
}

/// Lets time go by, of the loop's own kind.
func pass(_ duration: Duration, on loop: EventLoop) throws {
    try loop.run(until: loop.sleep(for: duration))
}

extension Duration {
    /// A while of which a test may wait many on a real clock.
    static func ticks(_ count: Int) -> Duration { .milliseconds(6 * count) }
}
