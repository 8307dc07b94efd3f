import Futures
import FuturesTesting
import Testing

struct BarePromiseTests {
    struct Trouble: Error {}

    @Test("a bare promise completes its future once, and leaves nothing behind")
    func outcomes() throws {
        let loop = EventLoop.virtual()
        let before = loop.statistics
        do {
            let (kept, failed) = (BarePromise(on: loop.core), BarePromise(on: loop.core))
            let (first, second) = (kept.future, failed.future.ignoreFailure())
            #expect(!first.isCompleted)
            kept.succeed()
            kept.fail(Trouble())
            failed.fail(Trouble())
            #expect(first.isSuccess && second.isCompleted && !second.isSuccess)
            let cancelled = BarePromise(on: loop.core)
            let third = cancelled.future
            #expect(third.cancel())
            cancelled.succeed()
            #expect(third.isCancelled)
        }
        try loop.run()
        #expect(loop.statistics.futures == before.futures)
    }

    @Test("a flatMap fails whose closure has returned the future of a bare promise that is released")
    func released() throws {
        let loop = EventLoop.virtual()
        var promise: BarePromise? = BarePromise(on: loop.core)
        let outer = loop.succeeded().flatMap { promise!.future }
        try loop.run(until: loop.submit {})
        #expect(!outer.isCompleted)
        promise = nil
        let abandoned = FutureError.brokenPromise(file: "(unknown)", line: 0)
        #expect(throws: abandoned) { try loop.run(until: outer) }
    }

    @Test("a step fails whose bare promise and future have gone")
    func forgotten() throws {
        let loop = EventLoop.virtual()
        let seen = Record()
        loop.onUnhandledFailure = { seen.add($0) }
        func mapped() -> Future<Int> { BarePromise(on: loop.core).future.map { 1 } }
        let abandoned = FutureError.brokenPromise(file: "(unknown)", line: 0)
        #expect(throws: abandoned) { try loop.run(until: mapped()) }
        try loop.run()
        #expect(seen.entries == [])
    }
}
