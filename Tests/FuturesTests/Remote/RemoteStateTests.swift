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
        winner.succeed(1)
        try first.run()
        try expect(promise.future, succeedsWith: 1)
        try second.run()
        #expect(loser.future.isCancelled)
    }
}
