import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct ShieldedTests {
    /// When the task is cancelled whose clean-up is shielded.
    enum Moment: String, CaseIterable { case before, meanwhile, beforeAndMeanwhile }

    @Test(
        "a cancelled body runs its clean-up to the end, wait after wait", arguments: Driver.allCases,
        Moment.allCases)
    func cleanUp(driver: Driver, moment: Moment) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                if moment != .meanwhile { try? await loop.sleep(for: .seconds(60)).value }
                let sum = try await loop.shielded(within: .seconds(60)) {
                    var sum = 0
                    for number in 1...3 {
                        try await loop.sleep(for: .milliseconds(1)).value
                        sum += number
                    }
                    let rest = Future.inCompletionOrder([
                        loop.succeeded(4), loop.sleep(for: .milliseconds(1)).map { 5 },
                    ])
                    for try await number in rest { sum += number }
                    return sum
                }
                seen.add("\(sum)")
                do { try await loop.sleep(for: .milliseconds(1)).value } catch { seen.add("\(error)") }
            }
            work.ignoreFailure()
            try settle(loop)
            work.cancel()
            try settle(loop)
            if moment == .beforeAndMeanwhile { work.cancel() }
            #expect(work.isCancelled)
            try loop.run()
            #expect(seen.entries == ["15", "CancellationError()"])
        }
    }

    /// What a clean-up does whose time limit has passed.
    enum End: String, CaseIterable { case throwsIt, throwsAnother, returns }

    @Test(
        "after its limit a clean-up is cancelled, and the caller goes on when it has ended",
        arguments: Driver.allCases,
        End.allCases)
    func limit(driver: Driver, end: End) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                do {
                    let value = try await loop.shielded(within: .milliseconds(5)) {
                        do { try await loop.sleep(for: .seconds(600)).value } catch {
                            seen.add("\(error)")
                            // What it still does is waited for.
                            try await loop.sleep(for: .milliseconds(5)).ignoringCancellation().value
                            seen.add("ended")
                            switch end {
                            case .throwsIt: throw error
                            case .throwsAnother: throw Failure(1)
                            case .returns: break
                            }
                        }
                        return 2
                    }
                    seen.add("\(value)")
                } catch { seen.add("\(error)") }
            }
            try settle(loop)
            work.cancel()
            try loop.run()
            let last =
                switch end {
                case .throwsIt: "\(FutureError.timedOut(after: .milliseconds(5)))"
                case .throwsAnother: "\(Failure(1))"
                case .returns: "2"
                }
            #expect(seen.entries == ["CancellationError()", "ended", last])
        }
    }

    @Test("a clean-up that ends in time, by itself, leaves no timer, and its errors are its own")
    func inTime() throws {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let start = loop.now
        let work = Future(on: loop) {
            let error = await #expect(throws: Failure(1)) {
                try await loop.shielded(within: .seconds(600)) {
                    try await loop.sleep(for: .seconds(1)).value
                    throw Failure(1)
                }
            }
            #expect(error != nil)
            // A cancellation of its own is no matter of time.
            await #expect(throws: CancellationError.self) {
                try await loop.shielded(within: .seconds(600)) { throw CancellationError() }
            }
            return try await loop.shielded(within: .zero) { 3 }
        }
        try loop.run()
        try expect(work, succeedsWith: 3)
        #expect(start.duration(to: loop.now) == .seconds(1))
    }

    private actor Owner {
        nonisolated let loop: EventLoop
        private(set) var steps = 0

        init(_ loop: EventLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        func cleanUp(_ began: Promise<Void>) async throws {
            try await loop.shielded(within: .seconds(60)) {
                began.succeed()
                for _ in 0..<3 {
                    try await self.loop.sleep(for: .milliseconds(10)).value
                    self.steps += 1
                }
            }
        }

        func start(_ began: Promise<Void>, _ ended: Promise<Int>) -> Task<Void, any Error> {
            Task {
                _ = try await { try await cleanUp(began) }()
                ended.succeed(steps)
            }
        }
    }

    @Test(
        "a task of an actor that another thread cancels runs its clean-up to the end",
        arguments: Driver.allCases)
    func actor(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (began, ended) = (loop.makePromise(of: Void.self), loop.makePromise(of: Int.self))
            let owner = Owner(loop)
            nonisolated(unsafe) let promises = (began, ended)
            let task = owner.assumeIsolated { unsafe $0.start(promises.0, promises.1) }
            began.future.whenSuccess { Thread.detachNewThread { task.cancel() } }
            try expect(ended.future, succeedsWith: 3)
        }
    }

    @Test("a negative limit is refused before anything runs", arguments: Driver.allCases)
    func negative(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = Future(on: loop) {
                try await loop.shielded(within: .seconds(-1)) {
                    Issue.record("it has run")
                    return
                }
            }
            try settle(loop)
            guard case .failure(FutureError.invalidArgument(let text))? = work.result else {
                Issue.record("\(String(describing: work.result))")
                return
            }
            #expect(text == "a delay of -1.0 seconds is negative; give zero or more")
        }
    }

    @Test("the end of the loop ends a clean-up", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let work = Future(on: loop) {
                do {
                    try await loop.shielded(within: .seconds(60)) {
                        do { try await loop.sleep(for: .seconds(50)).value } catch {
                            seen.add("\(error)")
                            throw error
                        }
                    }
                } catch { seen.add("\(error)") }
            }
            work.ignoreFailure()
            try settle(loop)
            work.cancel()
            try settle(loop)
            loop.shutdown()
            #expect(
                seen.entries.count == 2 && seen.entries.allSatisfy { $0.contains("shut") }, "\(seen.entries)")
        }
    }
}
