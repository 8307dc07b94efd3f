import Dispatch
import Futures
import TestSupport
import Testing
import UVFutures

struct UVWorkTests {
    @Test("cancelling before the start takes the closure out of the pool's queue, and releases it")
    func cancelBeforeStart() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                // As many as the pool has threads.
                let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let busy = (0..<4).map { _ in
                    RemoteContext.pool.execute(on: loop) {
                        started.signal()
                        gate.wait()
                    }
                }
                for _ in busy { started.wait() }
                let ran = Counter()
                weak var captured: Counter?
                func start() -> Future<Void> {
                    let token = Counter()
                    captured = token
                    return RemoteContext.pool.execute(on: loop) { ran.value += token.value + 1 }
                }
                let waiting = start()
                #expect(captured != nil)
                #expect(waiting.cancel())
                #expect(captured == nil)
                // The pool has let go of it, though all of its threads are still busy.
                for future in busy { future.whenSuccess { gate.signal() } }
                for _ in busy { gate.signal() }
                _ = try loop.run(until: Future.all(busy))
                #expect(ran.value == 0)
                #expect("\(waiting)" == "Future(cancelled)")
            }
        }
    }

    @Test("shutdown waits for what runs in the pool, and later work is refused")
    func shutdown() throws {
        let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = Counter()
        let loop = try EventLoop()
        let running = RemoteContext.serial(on: .pool).execute(on: loop) {
            started.signal()
            gate.wait()
            ended.value = 1
        }
        running.ignoreFailure()
        started.wait()
        gate.signal()
        loop.shutdown()
        #expect(ended.value == 1)
        #expect("\(running)" == "Future(failure: the event loop has been shut down; make a new one)")
        let late = RemoteContext.pool.execute(on: loop) { 1 }
        let text = "\(late.ignoreFailure())"
        #expect(text == "Future(failure: the event loop has been shut down; make a new one)")
    }

    @Test("a loop dropped while its cancelled work still runs in the pool waits for it")
    func droppedLoop() throws {
        let (started, gate, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Counter())
        weak var freed: LoopCore?
        do {
            let loop = try EventLoop()
            freed = loop.core
            let running = RemoteContext.pool.execute(on: loop) {
                started.signal()
                gate.wait()
                ended.value = 1
            }
            started.wait()
            #expect(running.cancel())
            gate.signal()
            try loop.run()
        }
        #expect(ended.value == 1)
        #expect(eventually { freed == nil })
    }
}
