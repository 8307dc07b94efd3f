import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

struct RemoteStateTests {
    @Test("the first completion wins, of however many threads", arguments: Driver.allCases)
    func first(driver: Driver) throws {
        try withLoop(driver) { loop in
            for _ in 0..<50 {
                let promise = loop.makeRemotePromise(of: Int.self)
                let (group, winners) = (DispatchGroup(), Tally())
                for thread in 1...4 {
                    startThread(of: group) { if promise.succeed(thread) { winners.add(thread) } }
                }
                group.wait()
                try expect(promise.future, succeedsWith: winners.sum)
            }
        }
    }

    @Test(
        "a handler is called once, also one that cancels again, and another one after it",
        arguments: Driver.allCases)
    func handlerOnce(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makeRemotePromise(of: Int.self)
            let asked = Tally()
            promise.onCancelRequest {
                asked.add(1)
                #expect(promise.future.cancel())
                return .continue
            }
            for _ in 0..<2 { #expect(promise.future.cancel()) }
            #expect(asked.sum == 1)
            promise.onCancelRequest {
                asked.add(10)
                #expect(promise.future.cancel())
                return .cancel
            }
            #expect(promise.future.cancel())
            #expect(asked.sum == 11 && promise.isCancelled)
        }
    }

    @Test("the loop may complete and drop one before it hears that it was made", arguments: Driver.allCases)
    func overtakes(driver: Driver) throws {
        try withLoop(driver) { loop in
            RemotePromiseTests().makeElsewhere(loop).succeed(1)
            let promise = RemotePromiseTests().makeElsewhere(loop)
            promise.succeed(2)
            try expect(promise.future, succeedsWith: 2)
            try loop.run()
            do { _ = RemotePromiseTests().makeElsewhere(loop) }
            try loop.run()
        }
    }

    @Test("the release of one on its loop does not overtake another thread's value, and wakes no loop")
    func released() throws {
        try withLoop(.virtual) { loop in
            var promise = Optional(loop.makeRemotePromise(of: Int.self, file: "Here.swift", line: 5))
            let future = promise!.future
            try onThread { [promise] in _ = promise?.succeed(1) }
            promise = nil
            try expect(future, succeedsWith: 1)
            let wakeUps = loop.statistics.wakeUps
            promise = loop.makeRemotePromise(file: "Here.swift", line: 6)
            let broken = promise!.future
            promise = nil
            expect(broken, failsWith: FutureError.brokenPromise(file: "Here.swift", line: 6))
            #expect(loop.statistics.wakeUps == wakeUps)
        }
    }

    // The waits of each loop are numbered by that loop alone.
    @Test("the first of several loops' futures completes it, and the others are asked to cancel")
    func sourcesOfSeveralLoops() throws {
        let (loop, first, second) = (EventLoop.virtual(), EventLoop.virtual(), EventLoop.virtual())
        let (winner, loser) = (first.makePromise(of: Int.self), second.makePromise(of: Int.self))
        let promise = loop.makeRemotePromise(of: Int.self)
        promise.complete(using: winner.future)
        promise.complete(using: loser.future)
        // A run may end before.
        try first.run()
        #expect(!winner.future.isCompleted && !promise.future.isCompleted)
        winner.succeed(1)
        try first.run()
        try expect(promise.future, succeedsWith: 1)
        try second.run()
        #expect(loser.future.isCancelled)
    }

    @Test("the outcome of a future of a loop that has been shut down completes it")
    func sourceOfEndedLoop() throws {
        try withLoop(.virtual) { loop in
            let other = EventLoop.virtual()
            let futures = [other.succeeded(1), other.failed(Failure(2)), other.never()]
            other.shutdown()
            let promises = futures.map { _ in loop.makeRemotePromise(of: Int.self) }
            for (promise, future) in zip(promises, futures) { promise.complete(using: future) }
            try expect(promises[0].future, succeedsWith: 1)
            expect(promises[1].future, failsWith: Failure(2))
            expect(promises[2].future, failsWith: FutureError.shutDown)
        }
    }

    @Test("a loop whose future has completed one is not woken for it any more", arguments: Driver.allCases)
    func sourceIsForgotten(driver: Driver) async throws {
        try await withRunningLoop(driver) { loop in
            try onThread {
                let other = EventLoop.virtual()
                let promise = loop.makeRemotePromise(of: Int.self)
                promise.complete(using: other.succeeded(4))
                try other.run()
                let value = try loop.wait { promise.future }
                #expect(value == 4 && other.statistics.wakeUps == 0)
            }
        }
    }
}
