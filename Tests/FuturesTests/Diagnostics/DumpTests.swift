import Futures
import FuturesTesting
import Testing

struct DumpTests {
    @Test("a dump has a line of figures, and one for each place where pending promises were made")
    func promises() throws {
        try withLoop(.virtual) { loop in
            let many = (0..<3).map { _ in loop.makePromise(of: Int.self, file: "Somewhere.swift", line: 7) }
            let one = loop.makePromise(of: Int.self, file: "Elsewhere.swift", line: 8)
            let done = loop.makePromise(of: Int.self, file: "Done.swift", line: 9)
            done.succeed(1)
            withExtendedLifetime((many, one, done)) {
                let lines = loop.dump().split(separator: "\n").map(String.init)
                #expect(
                    lines.first?.hasPrefix(
                        "event loop: 5 futures, 5 promises, 0 timers, 0 handles, of which 0 are")
                        == true)
                #if DEBUG
                    #expect(
                        lines.dropFirst() == [
                            "a promise made at Somewhere.swift:7 (3 of them)",
                            "a promise made at Elsewhere.swift:8",
                        ])
                #else
                    #expect(lines.dropFirst() == ["a promise (4 of them)"])
                #endif
            }
            for promise in many + [one] { promise.cancel() }
        }
    }

    @Test("the places of promises that have gone are forgotten")
    func forgotten() throws {
        try withLoop(.virtual) { loop in
            for _ in 0..<100 { loop.makePromise(of: Int.self).succeed(1) }
            #expect(loop.dump().split(separator: "\n").count == 1)
        }
    }

    @Test("the figures of a dump say in milliseconds how late timers are")
    func lateTimers() throws {
        try withLoop(.virtual) { loop in
            loop.schedule(after: .milliseconds(1)) { loop.advanceWithoutRunning(by: .milliseconds(1500)) }
            loop.sleep(for: .milliseconds(2)).ignoreFailure()
            loop.advance(by: .seconds(2))
            let text = loop.dump()
            #expect(text.contains("; timers 1499 ms late, at most 1499; busy for "), "\(text)")
        }
    }
}
