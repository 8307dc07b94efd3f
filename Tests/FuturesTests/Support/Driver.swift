import Futures
import FuturesTesting
import Testing
import UVFutures

/// What turns the loop of a test. The core keeps its promises on each.
enum Driver: String, CaseIterable, Codable, CustomTestStringConvertible {
    case virtual, libuv

    func makeLoop() throws -> EventLoop {
        switch self {
        case .virtual: .virtual()
        case .libuv: try EventLoop()
        }
    }

    var testDescription: String { rawValue }
}

/// Runs `body` on a loop of its own, and expects that it leaves nothing behind.
func withLoop(
    _ driver: Driver, sourceLocation: SourceLocation = #_sourceLocation, _ body: (EventLoop) throws -> Void
) throws {
    weak var freed: EventLoop?
    do {
        let loop = try driver.makeLoop()
        freed = loop
        try body(loop)
        if !loop.isShutDown { try settle(loop) }
        expectNothingLeft(on: loop, sourceLocation: sourceLocation)
        loop.shutdown()
        expectNothingLeft(on: loop, sourceLocation: sourceLocation)
    }
    #expect(freed == nil, sourceLocation: sourceLocation)
}

func expectNothingLeft(on loop: EventLoop, sourceLocation: SourceLocation = #_sourceLocation) {
    let left = loop.statistics
    #expect(
        left.futures == 0 && left.promises == 0 && left.timers == 0 && left.handles == 0,
        sourceLocation: sourceLocation)
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
    static func ticks(_ count: Int) -> Duration { .milliseconds(2 * count) }
}
