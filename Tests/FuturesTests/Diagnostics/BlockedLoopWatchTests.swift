import Dispatch
import FuturesTesting
import Synchronization
import Testing

@testable import Futures

/// What other threads have been told.
private final class Reports: Sendable {
    private let all = Mutex<[BlockedLoop]>([])

    var entries: [BlockedLoop] { all.withLock { $0 } }
    func add(_ report: BlockedLoop) { all.withLock { $0.append(report) } }
}

struct BlockedLoopWatchTests {
    @Test("a loop that nobody runs, and one that answers, is not reported")
    func unreported() throws {
        try withLoop(.virtual) { loop in
            let reports = Reports()
            let watch = BlockedLoopWatch(of: loop.core, after: 100) { reports.add($0) }
            defer { watch.end() }
            let now = DispatchTime.now().uptimeNanoseconds
            #expect(watch.look(at: now))
            // Nobody runs the loop, so it may take its time.
            #expect(watch.look(at: now + 1000))
            #expect(reports.entries.isEmpty)
            // Somebody does. What was asked before counts from here.
            watch.workBegins()
            #expect(watch.look(at: now + 99) && reports.entries.isEmpty)
            try settle(loop)
            // The loop has answered, and is asked anew.
            let later = DispatchTime.now().uptimeNanoseconds + 1_000_000_000
            #expect(watch.look(at: later) && watch.look(at: later + 99))
            #expect(reports.entries.isEmpty)
            #expect(watch.look(at: later + 100) && watch.look(at: later + 1_000_000))
            #expect(reports.entries.map(\.duration) == [.nanoseconds(100)])
            watch.workEnds()
            try settle(loop)
            #expect(watch.look(at: later + 2_000_000) && watch.look(at: later + 3_000_000))
            #expect(reports.entries.count == 1)
        }
    }

    @Test("a watch begins in the midst of a callback, or when somebody runs the loop, and with a nanosecond")
    func begins() throws {
        try withLoop(.virtual) { loop in
            let reports = Reports()
            func watch() throws {
                // Too long for the looks that come by themselves.
                loop.onBlockedLoop(longerThan: .seconds(1_000_000)) { reports.add($0) }
                let (watch, now) = (
                    try #require(loop.core.blockedWatch), DispatchTime.now().uptimeNanoseconds
                )
                #expect(watch.look(at: now) && watch.look(at: now + 1_000_000_000_000_000))
            }
            try watch()
            #expect(reports.entries.isEmpty)
            try loop.run(until: loop.submit(watch))
            #expect(reports.entries.map(\.duration) == [.seconds(1_000_000)])
            loop.onBlockedLoop(longerThan: .nanoseconds(1)) { _ in }
            loop.onBlockedLoop(nil)
        }
    }

    @Test("the handler is released when it is replaced, when the watch ends, and at the shutdown of the loop")
    func released() throws {
        let seen = Record()
        try withLoop(.libuv) { loop in
            func watch(_ name: String) {
                nonisolated(unsafe) let witness = Witness { seen.add(name) }
                loop.onBlockedLoop { _ in unsafe witness.look() }
            }
            watch("first")
            watch("second")
            #expect(seen.entries == ["first"])
            loop.onBlockedLoop(nil)
            #expect(seen.entries == ["first", "second"])
            watch("third")
        }
        #expect(seen.entries == ["first", "second", "third"])
    }

    @Test("the text of a report says no place if none is known")
    func text() {
        let report = BlockedLoop(duration: .seconds(2), place: nil, calls: ["a+0x1", "b+0x2"])
        #expect(
            "\(report)" == "a callback keeps the loop from all else for 2.0 seconds\n  a+0x1\n  b+0x2")
    }
}
