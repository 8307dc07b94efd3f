// N awaits, one after the other, by an actor whose executor is the loop, of futures that have completed and of such as
// complete in the loop's next step.
//
// Usage: Awaits [N [ROUNDS [CONTENDERS]]]; prints nanoseconds per await, and the ratios to ours.

import Dispatch
import NIOCore
import NIOPosix
import Rounds
import UVFutures

actor Ours {
    let loop: UVFutures.EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: UVFutures.EventLoop) { self.loop = loop }

    func awaitReady(_ count: Int) async throws {
        let future = loop.succeeded(1)
        var sum = 0
        for _ in 0..<count { sum += try await future.value }
        precondition(sum == count)
    }

    func awaitPending(_ count: Int) async throws {
        var sum = 0
        for _ in 0..<count { sum += try await loop.submit { 1 }.value }
        precondition(sum == count)
    }
}

actor Theirs {
    let loop: any NIOCore.EventLoop
    private let executor: any NIOSerialEventLoopExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ loop: any NIOCore.EventLoop) {
        self.loop = loop
        executor = loop as! any NIOSerialEventLoopExecutor
    }

    func awaitReady(_ count: Int) async throws {
        let future = loop.makeSucceededFuture(1)
        var sum = 0
        for _ in 0..<count { sum += try await future.get() }
        precondition(sum == count)
    }

    func awaitPending(_ count: Int) async throws {
        var sum = 0
        for _ in 0..<count { sum += try await loop.submit { 1 }.get() }
        precondition(sum == count)
    }
}

/// Blocks until a task has run `body`.
func finish(_ body: @escaping @Sendable () async throws -> Void) {
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await body()
        } catch {
            fatalError("an await failed: \(error)")
        }
        ended.signal()
    }
    ended.wait()
}

let thread = try UVFutures.EventLoop.onNewThread(name: "ours")
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let (ours, theirs) = (Ours(thread.loop), Theirs(group.next()))
let (count, rounds) = (argument(1, or: 1_000_000), argument(2, or: 5))
compare(
    "await of a completed future", operations: count, rounds: rounds,
    [
        Contender("ours") { count in finish { try await ours.awaitReady(count) } },
        Contender("SwiftNIO") { count in finish { try await theirs.awaitReady(count) } },
    ])
compare(
    "await of a pending future", operations: count, rounds: rounds,
    [
        Contender("ours") { count in finish { try await ours.awaitPending(count) } },
        Contender("SwiftNIO") { count in finish { try await theirs.awaitPending(count) } },
    ])
