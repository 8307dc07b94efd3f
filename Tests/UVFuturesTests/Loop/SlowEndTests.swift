import Dispatch
import Futures
import FuturesTesting
import Glibc
import Synchronization
import TestSupport
import Testing
import UVFutures

/// The end of a loop that takes long says what it waits for.
struct SlowEndTests {
    @Test("the end of a loop that waits for bodies says so, once, and for which", arguments: Kind.allCases)
    func bodies(kind: Kind) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [kind] in
            try onThread {
                let (loop, end) = try kind.make()
                loop.core.patienceAtEnd = .milliseconds(50)
                // A timer that ends with the loop is not the last that the driver hears of timers.
                loop.sleep(for: .seconds(1000)).ignoreFailure()
                let door = Door()
                for _ in 0..<2 { Future<Void>(on: loop) { await door.wait() }.ignoreFailure() }
                whenStandardErrorSays("which all fail now") { door.open() }
                try end()
            }
        }
        let said = lines(of: result)
        #expect(said.count == 1)
        let verb = kind == .attached ? "detach()" : "shutdown()"
        let start =
            "\(verb) has waited for 0.05 seconds for bodies that were cancelled and do not return: a body"
        let end =
            " (2 of them). Let them return when Task.isCancelled is true, or await futures of the loop, "
            + "which all fail now."
        #expect(said.first?.hasPrefix(start) == true && said.first?.hasSuffix(end) == true, "\(said)")
    }

    @Test(
        "of bodies with many names the ten most frequent are named, and the others counted",
        arguments: [10, 12])
    func manyNames(count: Int) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [count] in
            try onThread {
                let loop = EventLoop.virtual()
                loop.core.patienceAtEnd = .zero
                let door = Door()
                for client in (1...count).map(Client.init) + [Client(7)] {
                    Future<Void>(on: loop, isolation: nil, for: client) { await door.wait() }.ignoreFailure()
                }
                whenStandardErrorSays("which all fail now") { door.open() }
                loop.shutdown()
            }
        }
        let said = lines(of: result).first ?? ""
        let names = said.matches(of: /a body of (\d+)/).compactMap { Int($0.1) }
        #expect(
            names == [7] + ([1, 10, 11, 12].filter { $0 <= count } + [2, 3, 4, 5, 6, 8, 9]).prefix(9),
            "\(said)")
        #expect(said.contains(", 2 others. Let them return") == (count == 12), "\(said)")
        #expect(said.contains(" others") == (count == 12) && said.contains(" (2 of them)"), "\(said)")
    }

    @Test("a handler that does not end is named by its connection", arguments: TestNetwork.allCases)
    func handler(network: TestNetwork) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [network] in
            try onThread {
                let loop = try network.makeLoop()
                loop.core.patienceAtEnd = .milliseconds(50)
                let door = Door()
                let server = try TCPServer.listen(
                    host: "127.0.0.1", port: 0, on: loop, awaiting: { _ in await door.wait() })
                let client = try loop.connect(to: server.localAddress)
                try loop.runUntil { server.activeConnections == 1 }
                whenStandardErrorSays("which all fail now") { door.open() }
                withExtendedLifetime(client) { loop.shutdown() }
            }
        }
        let said = lines(of: result)
        // In a simulated network sockets share their numbers with what else is there.
        let number = network == .system ? 1 : 3
        #expect(
            said.count == 1
                && said[0].contains("do not return: a body of TCPConnection \(number) (127.0.0.1:"),
            "\(said)")
    }

    @Test("the end of a loop that waits for a job of the pool says so")
    func pool() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try onThread {
                let loop = try EventLoop()
                loop.core.patienceAtEnd = .milliseconds(50)
                let (begun, door) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let job = RemoteContext.pool.execute(on: loop) {
                    begun.signal()
                    door.wait()
                }
                job.ignoreFailure()
                try loop.run(for: .milliseconds(1))
                begun.wait()
                whenStandardErrorSays("end by themselves") { door.signal() }
                loop.shutdown()
            }
        }
        #expect(
            lines(of: result) == [
                "shutdown() has waited for 0.05 seconds for jobs of the thread pool (1 of them), which "
                    + "nobody can interrupt. Let them end by themselves."
            ])
    }

    @Test("an end that takes no time says nothing, and the wait is five seconds unless somebody changes it")
    func quick() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try onThread {
                let loop = try EventLoop()
                #expect(loop.core.patienceAtEnd == .seconds(5))
                Future<Void>(on: loop) { try await loop.sleep(for: .seconds(100)).value }.ignoreFailure()
                RemoteContext.pool.execute(on: loop) {}.ignoreFailure()
                try loop.run(for: .milliseconds(1))
                loop.shutdown()
            }
        }
        #expect(lines(of: result).isEmpty)
    }

    private func lines(of result: ExitTest.Result?) -> [Substring] {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("has waited") }
    }

    enum Kind: CaseIterable, Codable {
        case owned, attached, virtual, oneOfSeveral

        /// A loop, and what ends it.
        func make() throws -> (EventLoop, () throws -> Void) {
            if self == .oneOfSeveral {
                // The other loop of the host has nothing to do, so the end does not keep serving it.
                let world = World(seed: 1, maxCallbacksPerInstant: 1_000)
                let loop = try world.addHost("a").makeLoop()
                return (loop, { withExtendedLifetime(world) { loop.shutdown() } })
            }
            guard self == .attached else {
                let loop = self == .owned ? try EventLoop() : EventLoop.virtual()
                return (loop, { loop.shutdown() })
            }
            let host = HostLoop()
            let loop = try host.attach()
            return (
                loop,
                {
                    try host.run(until: loop.detach())
                    #expect(host.close() == 0)
                }
            )
        }
    }
}

/// What a body works for.
private final class Client: CustomStringConvertible {
    let description: String

    init(_ number: Int) { description = "\(number)" }
}

/// What a task waits for without heeding its cancellation.
private final class Door: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let all = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in all { continuation.resume() }
    }
}

/// Passes on what is printed to standard error, and calls `body`, on a thread of its own, when that contains `text`.
private func whenStandardErrorSays(_ text: String, _ body: @escaping @Sendable () -> Void) {
    let original = dup(STDERR_FILENO)
    var ends: [CInt] = [0, 0]
    unsafe pipe(&ends)
    dup2(ends[1], STDERR_FILENO)
    close(ends[1])
    startThread(of: DispatchGroup()) { [input = ends[0]] in
        var (all, hasSaid) = ("", false)
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(input, &block, block.count)
            guard count > 0 else { return }
            _ = unsafe write(original, block, count)
            all += String(decoding: block.prefix(count), as: UTF8.self)
            guard !hasSaid, all.contains(text) else { continue }
            hasSaid = true
            body()
        }
    }
}
