import Dispatch
import Futures
import FuturesTesting
import Testing

struct VirtualDriverTests {
    @Test("run jumps from deadline to deadline")
    func run() throws {
        try withLoop { loop in
            let start = loop.now
            let hours = try loop.run(
                until: loop.sleep(for: .seconds(3600)).flatMap { loop.sleep(for: .seconds(3600)) }
                    .map { start.duration(to: loop.now) / .seconds(3600) })
            #expect(hours == 2)
        }
    }

    @Test(
        "jobs that never stop coming from another thread do not hold up the clock", arguments: [false, true])
    func flood(advancing: Bool) throws {
        try withLoop { loop in
            let flood = Flood(of: loop)
            flood.goOn()
            let hour = loop.schedule(after: .seconds(3600)) { flood.isOver = true }.future
            if advancing { loop.advance(by: .seconds(3600)) } else { try loop.run(until: hour) }
            #expect(hour.isCompleted && flood.isOver)
            try loop.run()
        }
    }
}

/// Has a thread wake the loop, and, as soon as that has come, again: there is never a moment without a wake-up.
private final class Flood: @unchecked Sendable {
    // Touched on the loop's thread only, apart from `loop` and `queue`.
    var isOver = false
    private let loop: EventLoop
    private let queue = DispatchQueue(label: "flood")

    init(of loop: EventLoop) { self.loop = loop }

    func goOn() {
        guard !isOver else { return }
        let isGiven = DispatchSemaphore(value: 0)
        queue.async {
            self.loop.execute { self.goOn() }
            isGiven.signal()
        }
        isGiven.wait()
    }
}
