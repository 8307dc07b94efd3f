import Futures
import Testing

struct TicksTests {
    @Test(
        "ticks come at the instants of their interval, and those that a slow consumer misses do not",
        arguments: Driver.allCases)
    func ticks(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let start = loop.now
            let future = Future(on: loop) {
                var ticks = loop.ticks(every: .ticks(2)).makeAsyncIterator()
                var instants: [Duration] = []
                for pause in [0, 5, 0] {
                    let tick = try await ticks.next()
                    instants.append(start.duration(to: tick!))
                    if pause > 0 { try await loop.sleep(for: .ticks(pause)).value }
                }
                return instants
            }
            let instants = try loop.run(until: future)
            if driver == .virtual { #expect(instants == [.ticks(2), .ticks(4), .ticks(10)]) }
            #expect(zip(instants, [2, 4, 10]).allSatisfy { $0 >= .ticks($1) })
            #expect(loop.statistics.timers == 0)
            let none = loop.ticks(every: .zero).first()
            let text = "an interval of \(Duration.zero) is not positive; give more than zero"
            expect(none, failsWith: FutureError.invalidArgument(text))
        }
    }
}
