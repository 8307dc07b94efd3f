import Dispatch
import Futures
import TestSupport
import Testing

struct WaiterTests {
    @Test("it fails with stalled when run has nothing left to do", arguments: Driver.allCases)
    func stalled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (group, ended) = (DispatchGroup(), SharedRecord<String>())
            let (waits, promise) = (DispatchSemaphore(value: 0), loop.makePromise(of: Int.self))
            nonisolated(unsafe) let future = promise.future
            startThread(of: group) {
                do {
                    _ = try loop.wait {
                        waits.signal()
                        return unsafe future
                    }
                } catch {
                    ended.add("\(error)")
                }
            }
            // What the thread posts wakes this run, if it does not come before.
            loop.core.hold()
            loop.submit {
                RemoteContext.default.execute(on: loop) { waits.wait() }.whenSuccess { loop.core.letGo() }
            }.whenSuccess {}
            try loop.run()
            group.wait()
            #expect(ended.entries == ["\(FutureError.stalled)"])
            #expect("\(promise.future)" == "Future(cancelled)")
        }
    }

    @Test("shutdown ends the wait, and refuses the next", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (group, ended) = (DispatchGroup(), SharedRecord<String>())
            for _ in 0..<2 {
                startThread(of: group) {
                    do {
                        _ = try loop.wait { () -> Future<Void> in
                            loop.stop()
                            return loop.sleep(for: .seconds(1000))
                        }
                    } catch {
                        ended.add("\(error)")
                    }
                }
                if !loop.core.isShutDown {
                    loop.core.hold()
                    try loop.run()
                    loop.core.letGo()
                    loop.shutdown()
                }
                group.wait()
            }
            #expect(ended.entries == Array(repeating: "\(FutureError.shutDown)", count: 2))
        }
    }
}
