import Futures
import FuturesTesting
import Testing

struct FutureGateTests {
    @Test("a gate closes when all who are inside have left", arguments: Driver.allCases)
    func close(driver: Driver) throws {
        try withLoop(driver) { loop in
            let gate = FutureGate(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let inside = gate.with { promise.future }
            let permit = try gate.enter()
            #expect(gate.count == 2)
            let closed = gate.close()
            let impatient = gate.close().timeout(after: .ticks(1))
            expect(impatient, failsWith: FutureError.timedOut(after: .ticks(1)))
            permit.release()
            #expect(!closed.isCompleted && gate.isClosed)
            promise.succeed(1)
            #expect(gate.count == 0)
            try loop.run(until: closed)
            try expect(inside, succeedsWith: 1)
            #expect(gate.close().isCompleted)
        }
    }

    @Test("nobody enters a closed gate", arguments: Driver.allCases)
    func closed(driver: Driver) throws {
        try withLoop(driver) { loop in
            let gate = FutureGate(on: loop)
            gate.close()
            #expect(throws: FutureError.closed("gate")) { try gate.enter() }
            let late = gate.with { () -> Future<Int> in
                Issue.record("the body has run")
                return loop.succeeded(1)
            }
            expect(late, failsWith: FutureError.closed("gate"))
            #expect("\(FutureError.closed("gate"))" == "the gate has been closed, or was dropped")
        }
    }

    @Test("who throws, fails, is cancelled or is forgotten has left", arguments: Driver.allCases)
    func leaving(driver: Driver) throws {
        try withLoop(driver) { loop in
            let gate = FutureGate(on: loop)
            expect(gate.with { () -> Future<Int> in throw Failure(1) }, failsWith: Failure(1))
            expect(gate.with { loop.failed(Failure(2), of: Int.self) }, failsWith: Failure(2))
            let promise = loop.makePromise(of: Int.self)
            let cancelled = gate.with { promise.future }
            #expect(gate.count == 1)
            #expect(cancelled.cancel())
            _ = try gate.enter()
            #expect(gate.count == 0)
            try loop.run(until: gate.close())
        }
    }
}
