import CFuturesSystem
import CLibUV
import Dispatch
import Glibc
import TestSupport
import Testing
import UVFutures

struct AttachTests {
    @Test("futures, timers and sockets work on a host's loop, which the host runs")
    func works() throws {
        try withHost { host, loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { connection.write($0) }
            }
            let port = server.localAddress.port
            let reply = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).flatMap { connection in
                connection.write("hello\n")
                return connection.readLine().always { connection.close() }
            }
            let later = loop.sleep(for: .milliseconds(3)).map { 3 }
            let both = try host.run(until: reply.and(later))
            #expect(both.0.map { String(decoding: $0, as: UTF8.self) } == "hello" && both.1 == 3)
            server.close()
        }
    }

    @Test("an attached loop is busy in its turns, and neither waits nor the host's work count")
    func busy() throws {
        try withHost { host, loop in
            func spin() {
                let start = loop.now
                while start.duration(to: loop.now) < .milliseconds(5) {}
            }
            let start = loop.now
            loop.submit(spin).ignoreFailure()
            loop.measureBusyTime()
            try host.run(until: loop.sleep(for: .milliseconds(5)))
            let first = loop.statistics
            #expect(first.busy >= .milliseconds(5) && first.busy + first.idle <= start.duration(to: loop.now))
            spin()
            let second = loop.statistics
            #expect(second.busy == first.busy && second.idle - first.idle >= .milliseconds(5))
            try host.run(
                until: loop.submit {
                    let before = loop.statistics
                    spin()
                    let spun = loop.statistics
                    #expect(spun.busy - before.busy >= .milliseconds(5) && spun.idle == before.idle)
                    #expect(spun.busyShare(since: before) == 1)
                })
        }
    }

    @Test("a loop that waits for nothing does not keep its host alive")
    func idle() throws {
        try withHost { host, loop in
            #expect(!host.isAlive)
            let sleeping = loop.sleep(for: .seconds(60), keepsLoopAlive: false)
            let promise = loop.makePromise(of: Int.self)
            host.run()
            #expect(!host.isAlive)
            promise.succeed(1)
            sleeping.cancel()
            host.run()
        }
    }

    @Test("a loop that has been detached lets go of what it called, and calls nobody")
    func releasesHandlers() throws {
        try withHost { host, loop in
            weak var captured: Captured?
            var failures: [any Error] = []
            func set() {
                let object = Captured()
                captured = object
                loop.onUnhandledFailure = { error in withExtendedLifetime(object) { failures.append(error) } }
                loop.observe { _ in withExtendedLifetime(object) {} }
            }
            set()
            var held: Future<Int>? = loop.failed(FutureError.aborted)
            let promise = loop.makePromise(of: Int.self)
            _ = promise.future.recover { _ in throw FutureError.filtered }
            let end = loop.detach()
            end.whenComplete { _ in
                #expect(captured == nil)
                set()
                _ = loop.failed(FutureError.notFailed, of: Int.self)
            }
            try host.run(until: end)
            withExtendedLifetime(promise) {}
            #expect(captured == nil)
            #expect(failures as? [FutureError] == [.filtered, .aborted])
            if held != nil { held = nil }
            _ = loop.failed(FutureError.missingValue, of: Int.self)
            #expect(failures.count == 2)
        }
    }

    @Test("what is begun outside of our callbacks is done when the host goes on, in order")
    func begunOutside() throws {
        try withHost { host, loop in
            var seen: [Int] = []
            for number in 0..<3 { loop.succeeded(number).whenSuccess { seen.append($0) } }
            #expect(seen.isEmpty)
            host.run()
            #expect(seen == [0, 1, 2])
        }
    }

    @Test("a callback finds the attached loop to be the current one, and the host finds none")
    func current() throws {
        try withHost { host, loop in
            let seen = loop.submit { EventLoop.current == loop }
            #expect(EventLoop.current == nil)
            let isCurrent = try host.run(until: seen)
            #expect(isCurrent && loop.isCurrent)
        }
    }

    @Test("other threads reach an attached loop, which runs their jobs in order")
    func otherThreads() throws {
        try withHost { host, loop in
            let seen = Counter()
            let threads = DispatchGroup()
            startThread(of: threads) {
                for number in 0..<1000 {
                    loop.execute { if seen.value == number { seen.value += 1 } }
                }
            }
            let all = loop.repeat(every: .milliseconds(1)) {
                if seen.value == 1000 { throw CancellationError() }
            }
            #expect(throws: CancellationError.self) { try host.run(until: all.future) }
            threads.wait()
            #expect(seen.value == 1000)
        }
    }

    @Test(
        "what a host's timer calls goes on before the host's checks, what its descriptors call goes on after them"
    )
    func phases() throws {
        try withHost { host, loop in
            let phases = Phases(host, loop)
            for _ in 0..<3 {
                phases.seen = []
                phases.startTimer()
                phases.runUntilCalled()
                // From 1.45 on libuv looks at its timers at the end of a round.
                #expect(phases.seen.drop { $0 == "check" } == ["timer", "Swift", "check"])
                phases.seen = []
                unsafe uv_async_send(phases.async)
                phases.runUntilCalled()
                #expect(phases.seen == ["descriptor", "check", "Swift", "check"])
            }
            phases.close()
        }
    }

    @Test("a chain without end holds the host's loop for as many callbacks as it was told, and no longer")
    func turnBudget() throws {
        try withHost { host, loop in
            loop.turnBudget = 16
            var goesOn = true
            func chain() -> Future<Void> { goesOn ? loop.submit {}.flatMap(chain) : loop.succeeded() }
            let end = chain()
            for _ in 0..<5 {
                let before = loop.statistics.callbacks
                unsafe uv_run(host.loop, UV_RUN_NOWAIT)
                #expect(loop.statistics.callbacks - before == 16)
            }
            goesOn = false
            try host.run(until: end)
        }
    }

    @Test("two event loops live on one host's loop")
    func two() throws {
        try withHost { host, first in
            let second = try host.attach()
            try host.run(until: first.sleep(for: .milliseconds(1)))
            try host.run(until: second.sleep(for: .milliseconds(1)))
            try host.run(until: second.detach())
            try host.run(until: first.sleep(for: .milliseconds(1)))
        }
    }

    @Test("the effect of SIGPIPE is left as it is")
    func signalDispositions() async {
        await #expect(processExitsWith: .success) {
            _ = signal(SIGPIPE, SIG_DFL)
            try withHost { _, _ in }
            var action = sigaction()
            unsafe sigaction(SIGPIPE, nil, &action)
            precondition(unsafe action.__sigaction_handler.sa_handler == nil)
        }
    }

    @Test("to run, stop or shut down an attached loop traps, and to detach another")
    func traps() async {
        func expectTrap(_ text: String, _ result: ExitTest.Result?) {
            let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
            #expect(message?.contains(text) == true)
        }
        let run = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withHost { _, loop in try loop.run() }
        }
        expectTrap("run() was called on an event loop that is attached to a host's", run)
        let until = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withHost { _, loop in try loop.run(until: loop.sleep(for: .zero)) }
        }
        expectTrap("run(until:) was called on an event loop that is attached to a host's", until)
        let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withHost { _, loop in loop.stop() }
        }
        expectTrap("stop() was called on an event loop that is attached to a host's", stop)
        let shutdown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withHost { _, loop in loop.shutdown() }
        }
        expectTrap("shutdown() was called on an event loop that is attached to a host's", shutdown)
        let detach = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try EventLoop().detach()
        }
        expectTrap("detach() was called on an event loop that is not attached to a host's", detach)
    }
}

private final class Captured {}

/// Handles of a host's in three phases of its loop: the first two call Swift.
@safe
private final class Phases {
    let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let check = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
    private let host: HostLoop
    private let loop: EventLoop
    var seen: [String] = []

    init(_ host: HostLoop, _ loop: EventLoop) {
        self.host = host
        self.loop = loop
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_timer_init(host.loop, timer)
        unsafe uv_async_init(host.loop, async) { unsafe Phases.of($0!.pointee.data).starts("descriptor") }
        unsafe uv_check_init(host.loop, check)
        unsafe uv_check_start(check) { unsafe Phases.of($0!.pointee.data).seen.append("check") }
        unsafe (timer.pointee.data, async.pointee.data, check.pointee.data) = (own, own, own)
    }

    deinit {
        unsafe timer.deallocate()
        unsafe async.deallocate()
        unsafe check.deallocate()
    }

    static func of(_ data: UnsafeMutableRawPointer?) -> Phases {
        unsafe Unmanaged.fromOpaque(data!).takeUnretainedValue()
    }

    func starts(_ phase: String) {
        seen.append(phase)
        loop.later { self.seen.append("Swift") }
    }

    func startTimer() {
        unsafe uv_timer_start(timer, { unsafe Phases.of($0!.pointee.data).starts("timer") }, 0, 0)
    }

    /// Up to the check after the call.
    func runUntilCalled() {
        repeat { unsafe uv_run(host.loop, UV_RUN_ONCE) } while !seen.contains("Swift") || seen.last != "check"
    }

    func close() {
        unsafe close(timer)
        unsafe close(async)
        unsafe close(check)
        host.run()
    }

    private func close<Handle>(_ handle: UnsafeMutablePointer<Handle>) {
        unsafe uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self), nil)
    }
}
