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
}
