import Foundation
import Futures
import Synchronization
import Testing

/// Runs `body` on a thread of its own, and returns what it returns or throws.
func onThread<Value: Sendable>(
    stackSize: Int = 1 << 20, _ body: @escaping @Sendable () throws -> Value
) throws -> Value {
    let ended = DispatchSemaphore(value: 0)
    let outcome = Outcome<Value>()
    startThread(stackSize: stackSize, body) { result in
        outcome.result.withLock { $0 = result }
        ended.signal()
    }
    ended.wait()
    return try outcome.result.withLock { $0! }.get()
}

/// Starts `body` on a thread of its own. It has been released when `group` has been left.
func startThread(of group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    startThread(stackSize: 1 << 20, body) { _ in group.leave() }
}

/// Runs a loop on a thread of its own while `body`, which is elsewhere, uses it. Expects that nothing is left.
func withRunningLoop(
    _ driver: Driver, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (EventLoop) async throws -> Void
) async throws {
    let (loops, handOver) = AsyncThrowingStream.makeStream(of: EventLoop.self)
    startThread(stackSize: 1 << 20) {
        let loop = try driver.makeLoop()
        do {
            let beat = loop.repeat(every: .milliseconds(1)) {}
            loop.submit { handOver.yield(loop) }.whenSuccess { _ in }
            try loop.run()
            beat.cancel()
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

private func startThread<Value: Sendable>(
    stackSize: Int, _ body: @escaping @Sendable () throws -> Value,
    ended: @escaping @Sendable (Result<Value, any Error>) -> Void
) {
    let job = Job(body)
    let thread = Thread { ended(job.run()) }
    thread.stackSize = stackSize
    thread.start()
}

/// Releases what the body holds when it has run, while the thread lives on for a moment.
private final class Job<Value: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () throws -> Value)?>

    init(_ body: @escaping @Sendable () throws -> Value) { self.body = Mutex(body) }

    func run() -> Result<Value, any Error> {
        Result { try body.withLock { $0.take() }!() }
    }
}

private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
}
