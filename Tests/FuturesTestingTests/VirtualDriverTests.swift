import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

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

    @Test("a loop that waits for another thread waits, and counts none of that as callbacks")
    func waiting() throws {
        let loop = EventLoop.virtual(maxCallbacksPerInstant: 10)
        for number in 0..<20 {
            let promise = loop.makeRemotePromise(of: Int.self)
            let group = DispatchGroup()
            startThread(of: group) { _ = promise.succeed(number) }
            #expect(try loop.run(until: promise.future) == number)
            group.wait()
        }
        loop.shutdown()
    }

    @Test("a loop with nothing to do makes no turn")
    func idle() {
        withLoop { loop in
            loop.advance(by: .zero)
            #expect(loop.statistics.turns == 0 && loop.statistics.idle == .zero)
        }
    }

    @Test("at one instant timers come first, and then what the system has done")
    func order() throws {
        let loop = EventLoop.virtual()
        loop.simulatedDisk.latency = .constant(.seconds(1))
        for advancing in [false, true] {
            var order: [String] = []
            let opened = Directory.open("/", on: loop).map { _ in order.append("disk") }
            loop.schedule(after: .seconds(1)) { order.append("timer") }
            if advancing { loop.advance(by: .seconds(1)) } else { try loop.run(until: opened) }
            #expect(order == ["timer", "disk"])
        }
        loop.shutdown()
    }

    @Test("handles are counted until they are closed, and only streams as connections")
    func counts() throws {
        let loop = EventLoop.virtual()
        let listener = try TCPListener(host: "127.0.0.1", port: 7, on: loop)
        let socket = try UDPSocket.bind(host: "127.0.0.1", port: 7, on: loop)
        let signal = loop.signal(.hangup)
        let watch = try loop.run(until: FileWatch.watch(tree: "/run", on: loop))
        #expect(loop.statistics.handles == 4 && loop.statistics.connections == 0)
        let connecting = TCPConnection.connect(host: "127.0.0.1", port: 7, on: loop)
        let ends = [try loop.run(until: connecting), try loop.run(until: listener.accept())]
        #expect(loop.statistics.handles == 6 && loop.statistics.connections == 2)
        #expect(!loop.dump().contains(", closing"))
        for end in ends { end.abort() }
        #expect(loop.dump().contains(", closing"))
        loop.advance(by: .zero)
        #expect(loop.statistics.handles == 4 && loop.statistics.connections == 0)
        signal.cancel()
        signal.ignoreFailure()
        watch.closed.ignoreFailure()
        loop.shutdown()
        #expect(loop.statistics.handles == 0)
        withExtendedLifetime(socket) {}
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
