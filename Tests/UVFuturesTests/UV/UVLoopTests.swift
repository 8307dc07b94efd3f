import Dispatch
import TestSupport
import Testing
import UVFutures

struct UVLoopTests {
    @Test("a loop with nothing to do returns at once")
    func returnsWhenIdle() throws {
        try withLoop { loop in
            try loop.run()
            try loop.run()
        }
    }

    @Test("run(until:) stalls when only timers are left that do not keep the loop alive")
    func stalls() throws {
        try withLoop { loop in
            let sleeping = loop.sleep(for: .seconds(60), keepsLoopAlive: false)
            #expect(loop.failure(of: sleeping) as? FutureError == .stalled)
            sleeping.cancel()
        }
    }

    @Test("timers never fire early", arguments: [0, 1, 999, 1_000, 1_001, 1_999, 2_500, 9_999, 20_000])
    func neverEarly(microseconds: Int) throws {
        try withLoop { loop in
            for _ in 0..<5 {
                let (start, clock) = (loop.now, ContinuousClock.now)
                try loop.run(until: loop.sleep(for: .microseconds(microseconds)))
                #expect(start.duration(to: loop.now) >= .microseconds(microseconds))
                #expect(.now - clock >= .microseconds(microseconds))
            }
        }
    }

    @Test("timers fire in the order of their deadlines, whatever the order in which they were set")
    func order() throws {
        try withLoop { loop in
            var fired: [Int] = []
            let delays = (0..<200).map { ($0 * 37) % 50 }
            let start = loop.now
            let timers = delays.map { delay in
                loop.schedule(at: start.advanced(by: .milliseconds(delay))) { fired.append(delay) }.future
            }
            _ = try loop.run(until: Future.all(timers))
            #expect(fired == delays.sorted())
        }
    }

    // The turn of the first sets the timer when the callback is over, that of the second has nothing to set.
    @Test(
        "a long callback does not put off a timer by its own duration",
        arguments: [LocalContext.loop, .nextTurn])
    func staleTime(context: LocalContext) throws {
        try withLoop { loop in
            let start = loop.now
            let timer = loop.sleep(for: .milliseconds(800))
            let callback = loop.submit(on: context) {
                while start.duration(to: loop.now) < .milliseconds(700) {}
                return loop.now
            }
            try loop.run(until: timer)
            let elapsed = try loop.run(until: callback).duration(to: loop.now)
            #expect(elapsed < .milliseconds(700))
        }
    }

    @Test("timers without delay that set the next one starve no socket", arguments: TestNetwork.allCases)
    func endlessTimers(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var isOver = false
            func again() -> Future<Void> { isOver ? loop.succeeded() : loop.sleep(for: .zero).flatMap(again) }
            let endless = again()
            let (client, server) = try loop.connectedPair()
            client.write("hello")
            #expect(try loop.run(until: server.read()).count == 5)
            isOver = true
            try loop.run(until: endless)
            loop.closeAll(client, server)
        }
    }

    @Test("callbacks that queue the next one without end starve neither timers nor sockets")
    func endlessCallbacks() throws {
        try withLoop { loop in
            var isOver = false
            func again() -> Future<Void> { isOver ? loop.succeeded() : loop.submit {}.flatMap(again) }
            let endless = again()
            try loop.run(until: loop.sleep(for: .milliseconds(20)))
            let (client, server) = try loop.connectedPair()
            client.write("hello")
            #expect(try loop.run(until: server.read()).count == 5)
            isOver = true
            try loop.run(until: endless)
            loop.closeAll(client, server)
        }
    }

    @Test("a loop that waits does not turn", arguments: TestNetwork.allCases)
    func idles(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { _ in })
            let before = loop.statistics.turns
            try loop.run(until: loop.sleep(for: .milliseconds(50)))
            #expect(loop.statistics.turns - before <= 3)
            server.close()
        }
    }

    @Test("a promise that is completed between two runs is seen by the next one")
    func completedOutside() throws {
        try withLoop { loop in
            let promise = loop.makePromise(of: Int.self)
            let doubled = promise.future.map { $0 * 2 }
            promise.succeed(21)
            let value = try loop.run(until: doubled)
            #expect(value == 42)
        }
    }

    @Test("stop from another thread ends a run that waits")
    func stopElsewhere() throws {
        try withLoop { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { _ in })
            let hasStarted = DispatchSemaphore(value: 0)
            _ = loop.submit { hasStarted.signal() }
            startThread(of: DispatchGroup()) {
                hasStarted.wait()
                loop.stop()
            }
            try loop.run()
            #expect(loop.statistics.handles == 1)
            server.close()
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("stop before a run ends that run, and no other")
    func stopBefore() throws {
        try withLoop { loop in
            loop.stop()
            #expect(loop.failure(of: loop.sleep(for: .zero)) as? FutureError == .stopped)
            try loop.run(until: loop.sleep(for: .zero))
        }
    }

    @Test("jobs from eight threads all run, those of each thread in their order")
    func eightThreads() throws {
        try withLoop { loop in
            let log = Log()
            let threads = DispatchGroup()
            for thread in 0..<8 {
                startThread(of: threads) {
                    for number in 0..<2_000 { loop.execute { log.add(number, of: thread) } }
                }
            }
            while log.count < 16_000 { try loop.run() }
            threads.wait()
            for thread in 0..<8 { #expect(log.numbers[thread] == Array(0..<2_000)) }
        }
    }

    @Test("a job that another thread has given before is run, though nothing else keeps the loop alive")
    func jobBeforeRun() throws {
        try withLoop { loop in
            let log = Log()
            let group = DispatchGroup()
            startThread(of: group) { loop.execute { log.add(1, of: 0) } }
            group.wait()
            try loop.run()
            #expect(log.count == 1)
        }
    }

    @Test("no job is lost that comes while run is about to return")
    func jobsAtTheEnd() throws {
        try withLoop { loop in
            let log = Log()
            let group = DispatchGroup()
            let given = Counter()
            startThread(of: group) {
                for number in 0..<5_000 {
                    loop.execute { log.add(number, of: 0) }
                    given.value = number + 1
                    while given.value - log.count > 3 {}
                }
            }
            while log.count < 5_000 {
                // Whatever was given before the run is there after it.
                let before = given.value
                try loop.run()
                #expect(log.count >= before)
            }
            group.wait()
        }
    }

    @Test(
        "shutdown closes everything that is open, and fails what is pending", arguments: TestNetwork.allCases)
    func shutsDown(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { chunk in connection.write(chunk) }
            }
            let clients = try (0..<10).map { _ in try loop.connect(to: server.localAddress) }
            let reads = clients.map { $0.read() }
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accept = listener.accept()
            let sleeping = loop.sleep(for: .seconds(60))
            let signal = loop.signal(.user1)
            let connecting = TCPConnection.connect(
                host: "localhost", port: listener.localAddress.port, on: loop)
            loop.shutdown()
            for read in reads { #expect(throws: FutureError.shutDown) { try read.result?.get() } }
            for future in [sleeping, signal] {
                #expect(throws: FutureError.shutDown) { try future.result?.get() }
            }
            #expect(throws: FutureError.shutDown) { try accept.result?.get() }
            #expect(throws: FutureError.shutDown) { try connecting.result?.get() }
            #expect(loop.statistics.handles == 0)
            #expect(loop.statistics.connections == 0)
            #expect(clients[0].write("late").result != nil)
        }
    }

    @Test("a loop that has been shut down refuses everything", arguments: TestNetwork.allCases)
    func afterShutdown(network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            loop.shutdown()
            loop.shutdown()
            #expect(throws: FutureError.shutDown) { try loop.run() }
            #expect(loop.execute {} == false)
            #expect(throws: FutureError.shutDown) { try TCPListener(host: "127.0.0.1", port: 0, on: loop) }
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: 1, on: loop)
            #expect(throws: FutureError.shutDown) { try connecting.result?.get() }
            #expect(throws: FutureError.shutDown) { try loop.signal(.user1).result?.get() }
        }
    }

    @Test("a loop that nobody has used yet belongs to the thread that runs it")
    func movesToAnotherThread() throws {
        let loop = try EventLoop()
        let group = DispatchGroup()
        startThread(of: group) {
            #expect(throws: Never.self) {
                try loop.run()
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
            }
            #expect(loop.isCurrent)
            loop.shutdown()
        }
        group.wait()
    }

    @Test("a loop goes when nobody holds it any more, and its driver with it")
    func releases() throws {
        weak var released: LoopCore?
        do {
            let loop = try EventLoop()
            released = loop.core
            try loop.run(until: loop.sleep(for: .zero))
            #expect(released != nil)
        }
        #expect(released == nil)
    }
}

/// What jobs of other threads have done.
private final class Log: @unchecked Sendable {
    /// Touched by the jobs, so on the loop's thread only.
    private(set) var numbers: [Int: [Int]] = [:]
    private let jobs = Counter()

    func add(_ number: Int, of thread: Int) {
        numbers[thread, default: []].append(number)
        jobs.value += 1
    }

    /// Any thread.
    var count: Int { jobs.value }
}
