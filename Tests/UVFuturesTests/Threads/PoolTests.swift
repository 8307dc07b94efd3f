import Dispatch
import Foundation
import Futures
import TestSupport
import Testing
import UVFutures

struct PoolTests {
    @Test("a closure runs in the thread pool while the loop turns")
    func loopTurns() throws {
        try withLoop { loop in
            let (ticks, enough) = (Counter(), DispatchSemaphore(value: 0))
            let beat = loop.repeat(every: .milliseconds(1)) {
                ticks.value += 1
                if ticks.value == 5 { enough.signal() }
            }
            let waited = RemoteContext.pool.execute(on: loop) {
                enough.wait()
                return loop.isCurrent
            }
            let wasOnLoop = try loop.run(until: waited)
            #expect(!wasOnLoop)
            #expect(ticks.value >= 5)
            beat.cancel()
        }
    }

    @Test("values and errors come back to the loop, and keep run going until then")
    func outcomes() throws {
        try withLoop { loop in
            var seen: [String] = []
            loop.succeeded(1).map(on: .pool) { $0 + 1 }.whenSuccess { seen.append("\($0)") }
            RemoteContext.pool.execute(on: loop) { throw FutureError.filtered }.whenFailure {
                seen.append("\($0)")
            }
            RemoteContext.pool.execute(on: loop) { throw CancellationError() }.whenCancelled {
                seen.append("-")
            }
            try loop.run()
            #expect(seen.sorted() == ["-", "2", "the value does not satisfy the filter"])
        }
    }

    @Test("files are written, copied, read and removed in the thread pool, and one that is gone is an error")
    func files() throws {
        try withLoop { loop in
            func work<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Future<Value> {
                RemoteContext.pool.execute(on: loop, body)
            }
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("pool \(UUID())")
            let copy = place.appendingPathExtension("copy")
            let bytes = Data("from one file to another".utf8)
            let copied = work { try bytes.write(to: place) }
                .flatMap { work { try FileManager.default.copyItem(at: place, to: copy) } }
                .flatMap { work { try Data(contentsOf: copy) } }
            let read = try loop.run(until: copied)
            #expect(read == bytes)
            let gone = work { for item in [place, copy] { try FileManager.default.removeItem(at: item) } }
                .flatMap { work { try Data(contentsOf: copy) } }
            let error = loop.failure(of: gone) as? CocoaError
            #expect(error?.code == .fileReadNoSuchFile)
        }
    }

    @Test("a limit holds in the pool for jobs of several loops")
    func limited() throws {
        let context = try RemoteContext.limited(maxConcurrent: 2, on: .pool, name: "disk")
        #expect("\(context)" == "disk")
        let running = Counter()
        let most = Locked(0)
        let group = DispatchGroup()
        for _ in 0..<3 {
            startThread(of: group) {
                do {
                    try withLoop { loop in
                        let jobs = (0..<100).map { _ in
                            context.execute(on: loop) {
                                most.withLock { $0 = max($0, running.add(1)) }
                                running.add(-1)
                            }
                        }
                        _ = try loop.run(until: Future.all(jobs))
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        group.wait()
        let highest = most.withLock { $0 }
        #expect((1...2).contains(highest))
    }
}
