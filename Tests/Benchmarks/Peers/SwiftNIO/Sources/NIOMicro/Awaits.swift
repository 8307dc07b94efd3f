import Figures
import NIOCore

extension NIOMicro {
    /// An actor on the loop awaits a future that has completed.
    func awaitCompleted(_ count: Int) throws {
        let waiting = Waiting(on: loop)
        finish { try await waiting.forCompleted(count) }
    }

    /// An actor on the loop awaits futures that complete in the loop's next step.
    func awaitPending(_ count: Int) throws {
        let waiting = Waiting(on: loop)
        finish { try await waiting.forPending(count) }
    }

    /// A task elsewhere awaits a future of the loop that has completed.
    func awaitCompletedOutside(_ count: Int) throws {
        finish { [loop] in
            let future = loop.makeSucceededFuture(1)
            var sum = 0
            for _ in 0..<count { sum += try await future.get() }
            precondition(sum == count)
        }
    }

    /// A task elsewhere awaits futures of the loop that complete in the loop's next step.
    func awaitPendingOutside(_ count: Int) throws {
        finish { [loop] in
            var sum = 0
            for _ in 0..<count { sum += try await loop.submit { 1 }.get() }
            precondition(sum == count)
        }
    }
}

actor Waiting {
    private let loop: any EventLoop
    private let executor: any NIOSerialEventLoopExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(on loop: any EventLoop) {
        self.loop = loop
        executor = loop as! any NIOSerialEventLoopExecutor
    }

    func forCompleted(_ count: Int) async throws {
        let future = loop.makeSucceededFuture(1)
        var sum = 0
        for _ in 0..<count { sum += try await future.get() }
        precondition(sum == count)
    }

    func forPending(_ count: Int) async throws {
        var sum = 0
        for _ in 0..<count { sum += try await loop.submit { 1 }.get() }
        precondition(sum == count)
    }
}
