import Figures
import UVFutures

extension Micro {
    /// An actor on the loop awaits a future that has completed.
    func awaitCompleted(_ count: Int) throws {
        let waiting = Waiting(on: loop)
        try loop.run(until: Future(on: loop) { try await waiting.forCompleted(count) })
    }

    /// An actor on the loop awaits futures that complete in the loop's next step.
    func awaitPending(_ count: Int) throws {
        let waiting = Waiting(on: loop)
        try loop.run(until: Future(on: loop) { try await waiting.forPending(count) })
    }

    /// A task elsewhere awaits a future of the loop that has completed.
    func awaitCompletedOutside(_ count: Int) throws {
        let thread = try EventLoop.onNewThread()
        finish {
            let completed = Completed()
            try await thread.loop.run { completed.future = thread.loop.succeeded(1) }
            var sum = 0
            for _ in 0..<count { sum += try await thread.loop.run { completed.future! } }
            try await thread.loop.run { completed.future = nil }
            precondition(sum == count)
        }
    }

    /// A task elsewhere awaits futures of the loop that complete in the loop's next step.
    func awaitPendingOutside(_ count: Int) throws {
        let thread = try EventLoop.onNewThread()
        finish {
            var sum = 0
            for _ in 0..<count { sum += try await thread.loop.run { thread.loop.submit { 1 } } }
            precondition(sum == count)
        }
    }
}

actor Waiting {
    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: EventLoop) { self.loop = loop }

    func forCompleted(_ count: Int) async throws {
        let future = loop.succeeded(1)
        var sum = 0
        for _ in 0..<count { sum += try await future.value }
        precondition(sum == count)
    }

    func forPending(_ count: Int) async throws {
        var sum = 0
        for _ in 0..<count { sum += try await loop.submit { 1 }.value }
        precondition(sum == count)
    }
}

/// Touched on the loop's thread only.
private final class Completed: @unchecked Sendable {
    var future: Future<Int>?
}
