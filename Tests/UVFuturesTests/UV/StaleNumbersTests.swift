import CFuturesSystem
import CLibUV
import Dispatch
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

/// A descriptor is closed behind the back of its owner, and something new of the loop gets its number in the same turn.
struct StaleNumbersTests {
    /// A loop of its own or one that is attached to a host, and what waits for a future on it.
    struct Stage {
        let loop: EventLoop
        let host: HostLoop?

        @discardableResult
        func run<Value>(until future: Future<Value>) throws -> Value {
            try host.map { try $0.run(until: future) } ?? loop.run(until: future)
        }

        /// Waits until what other turns have closed is closed.
        func settle() throws { for _ in 0..<3 { try run(until: loop.submit(on: .nextTurn) {}) } }

        func failure<Value>(of future: Future<Value>) -> (any Error)? {
            do {
                try run(until: future)
                return nil
            } catch {
                return error
            }
        }

        /// Proves that what one writes comes to the other.
        func passes(_ from: ByteStream, _ to: ByteStream) throws {
            from.write("text")
            try #require(try run(until: to.read()) == Data("text".utf8))
        }
    }

    enum Owner: String, CaseIterable, Codable, CustomTestStringConvertible {
        case watch, idleWatch, counterWatch, stream, idleStream, unixStream, listener, idleListener
        case datagrams, idleDatagrams

        var testDescription: String { rawValue }

        /// The number, what waits for it, and how to let go of its owner.
        func make(on stage: Stage) throws -> (CInt, Future<Void>?, () -> Void) {
            let loop = stage.loop
            switch self {
            case .watch, .idleWatch, .counterWatch:
                var ends: [CInt] = [-1, -1]
                precondition(unsafe uv_pipe(&ends, 0, 0) == 0)
                if self == .counterWatch { precondition(dup2(make_hang_up_set(), ends[0]) == ends[0]) }
                let watch = try loop.watch(descriptor: ends[0])
                return (ends[0], self == .idleWatch ? nil : watch.readable, { watch.close() })
            case .stream, .idleStream:
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let port = listener.localAddress.port
                let connecting = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
                let (client, server) = try stage.run(until: connecting.and(listener.accept()))
                let number = try server.release()
                let stream = try TCPConnection(adopting: number, on: loop)
                return (
                    number, self == .stream ? stream.read().map { _ in } : nil,
                    {
                        stream.abort()
                        client.abort()
                        listener.close()
                    }
                )
            case .unixStream:
                var ends: [CInt] = [-1, -1]
                precondition(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
                let stream = try UnixConnection(adopting: ends[0], on: loop)
                return (ends[0], stream.read().map { _ in }, { stream.abort() })
            case .listener, .idleListener:
                let number = try TCPListener(host: "127.0.0.1", port: 0, on: loop).release()
                let listener = try TCPListener(adopting: number, on: loop)
                let accept = self == .listener ? listener.accept().map { _ in } : nil
                return (number, accept, { listener.close() })
            case .datagrams, .idleDatagrams:
                let number = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop).release()
                let socket = try UDPSocket(adopting: number, on: loop)
                return (number, self == .datagrams ? socket.receive().map { _ in } : nil, { socket.close() })
            }
        }

        /// What is said of `number` to what waits.
        func explains(_ error: any Error, _ number: CInt) -> Bool {
            switch self {
            case .watch, .idleWatch, .counterWatch:
                "\(error)"
                    == "descriptor \(number) was closed while it was watched; close the watch before the descriptor"
            case .listener, .idleListener: (error as? SystemError)?.code == .invalidArgument
            default: (error as? SystemError)?.code == .badDescriptor
            }
        }
    }

    @Test(
        "what gets the number of a descriptor that was closed behind its owner's back is served as if it were new",
        arguments: Owner.allCases, Newcomer.allCases.sampled)
    func served(owner: Owner, newcomer: Newcomer) async {
        await #expect(processExitsWith: .success) { [owner, newcomer] in
            // What waits for ever ends the process.
            alarm(20)
            try Self.repeat {
                var isPlayed = false
                try withLoop(ignoringUnhandled: true) { loop in
                    isPlayed = try Self.play(owner, newcomer, on: Stage(loop: loop, host: nil))
                }
                return isPlayed
            }
        }
    }

    @Test(
        "a loop that is attached to a host serves it alike", arguments: [Owner.watch, .stream, .listener],
        Newcomer.allCases.sampled)
    func attached(owner: Owner, newcomer: Newcomer) async {
        await #expect(processExitsWith: .success) { [owner, newcomer] in
            alarm(20)
            try Self.repeat {
                let host = HostLoop()
                let loop = try host.attach()
                loop.onUnhandledFailure = { _ in }
                let isPlayed = try Self.play(owner, newcomer, on: Stage(loop: loop, host: host))
                try host.run(until: loop.detach())
                precondition(host.close() == 0)
                return isPlayed
            }
        }
    }

    /// Plays a few times at most. Threads of the process that are not ours take and give back numbers, too. Dispatch, on
    /// whose threads tests run, opens a timer when it likes, unless it has one already.
    private static func `repeat`(_ play: () throws -> Bool) throws {
        let isTimed = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isTimed.signal() }
        isTimed.wait()
        for _ in 0..<5 where try play() { return }
        fatalError("the number has not been used again")
    }

    /// Returns `false` if the newcomer has not got the number, so that nothing is proved.
    private static func play(_ owner: Owner, _ newcomer: Newcomer, on stage: Stage) throws -> Bool {
        let make = try newcomer.prepare(on: stage)
        let (number, wait, letGo) = try owner.make(on: stage)
        try stage.settle()
        // So that no lower number is free.
        while dup(2) < number {}
        let made = stage.loop.submit {
            close(number)
            let proof = try make()
            return (proof, isUsed: isOpen(number))
        }
        let (proof, isUsed) = try stage.run(until: made)
        try proof()
        // Some get their number in a later turn, and a program gives its number back.
        guard newcomer.ends ? isUsed : isOpen(number) else {
            letGo()
            return false
        }
        if let wait {
            let error = stage.failure(of: wait.timeout(after: .seconds(5)))
            precondition(owner.explains(error!, number), "\(error!)")
        }
        letGo()
        try stage.settle()
        try proof()
        if !newcomer.ends { precondition(isOpen(number), "it was closed") }
        return true
    }

    private static func isOpen(_ number: CInt) -> Bool { fcntl(number, F_GETFD) >= 0 }

    @Test("who has lost a number is told afterwards, and not while the number is being taken")
    func told() async {
        await #expect(processExitsWith: .success) {
            alarm(20)
            try withLoop(ignoringUnhandled: true) { loop in
                let stage = Stage(loop: loop, host: nil)
                for owner in [Owner.stream, .listener, .datagrams, .watch] {
                    let (number, wait, letGo) = try owner.make(on: stage)
                    var told: [DescriptorEvents] = []
                    wait!.whenComplete { _ in told.append(.failed) }
                    try loop.run(for: .milliseconds(1))
                    while dup(2) < number {}
                    close(number)
                    _ = try loop.makePipe()
                    precondition(told.isEmpty, "\(owner)")
                    try loop.run(until: loop.submit(on: .nextTurn) {})
                    precondition(told == [.failed], "\(owner)")
                    letGo()
                }
                var ends: [CInt] = [-1, -1]
                precondition(unsafe uv_pipe(&ends, 0, 0) == 0)
                while dup(2) < ends[0] {}
                let watch = try loop.watch(descriptor: ends[0])
                var told: [DescriptorEvents] = []
                watch.onEvents(.readable) { told.append($0) }
                close(ends[0])
                _ = try loop.makePipe()
                precondition(told.isEmpty)
                try loop.run(until: loop.submit(on: .nextTurn) {})
                precondition(told == [.failed])
            }
        }
    }
}
