import Futures
import Testing

struct DisposerTests {
    @Test("a disposer runs once: when disposed of, even from within, or when released")
    func disposer() {
        var runs = 0
        var disposer: Disposer? = Disposer { runs += 1 }
        disposer?.dispose()
        disposer?.dispose()
        #expect(runs == 1 && disposer!.isDisposed)
        disposer = nil
        #expect(runs == 1)
        let holder = Holder()
        holder.disposer = Disposer {
            runs += 1
            holder.disposer?.dispose()
        }
        holder.disposer?.dispose()
        #expect(runs == 2)
        _ = Disposer { runs += 1 }
        #expect(runs == 3)
        #expect(Disposer().isDisposed)
    }

    private final class Holder {
        var disposer: Disposer?
    }

    @Test("a future's disposer cancels it, and does not keep it alive", arguments: Driver.allCases)
    func ofFuture(driver: Driver) throws {
        try withLoop(driver) { loop in
            let first = loop.makePromise(of: Int.self)
            var disposer: Disposer? = first.future.cancelOnDeinit()
            disposer?.dispose()
            #expect(first.future.isCompleted)
            let second = loop.makePromise(of: Int.self)
            disposer = second.future.cancelOnDeinit()
            #expect(!second.future.isCompleted)
            disposer = nil
            #expect("\(second.future)" == "Future(cancelled)")
            disposer = loop.makePromise(of: Int.self).future.cancelOnDeinit()
            #expect(loop.statistics.futures == 2)
            withExtendedLifetime((first, second)) {}
        }
    }
}
