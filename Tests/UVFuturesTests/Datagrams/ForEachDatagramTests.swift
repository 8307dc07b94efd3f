import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct ForEachDatagramTests {
    struct Trouble: Error {}

    @Test(
        "a body that throws ends the loop, and the next one gets what follows",
        arguments: TestNetwork.allCases)
    func throwing(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let received = server.forEachDatagram { _, _ in throw Trouble() }
            for number in 0..<3 { client.send("\(number)", to: server.localAddress) }
            #expect(loop.failure(of: received) is Trouble)
            let next = try loop.run(until: server.receive())
            #expect(next.bytes == Data("1".utf8))
        }
    }

    @Test("no more bodies are under way than allowed", arguments: TestNetwork.allCases)
    func concurrency(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            var (underWay, most, order) = (0, 0, [String]())
            let received = server.forEachDatagram(maxConcurrent: 3) { bytes, _ in
                underWay += 1
                most = max(most, underWay)
                order.append(String(decoding: Data(copying: bytes), as: UTF8.self))
                return loop.sleep(for: .milliseconds(1)).map { underWay -= 1 }
            }
            for number in 0..<20 { client.send("\(number)", to: server.localAddress) }
            try loop.runUntil { order.count == 20 && underWay == 0 }
            #expect(most == 3)
            #expect(order == (0..<20).map { "\($0)" })
            received.cancel()
        }
    }

    @Test(
        "64 bodies are under way if no number is given, and what comes then waits in the system",
        arguments: TestNetwork.allCases)
    func usualConcurrency(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            try server.setReceiveBufferSize(1_000_000)
            var begun: [Promise<Void>] = []
            let received = server.forEachDatagram { _, _ -> Future<Void> in
                begun.append(loop.makePromise())
                return begun.last!.future
            }
            for _ in 0..<64 { client.send("x", to: server.localAddress) }
            try loop.runUntil { begun.count == 64 }
            for _ in 0..<20 { client.send("x", to: server.localAddress) }
            try loop.run(for: .milliseconds(5))
            #expect(begun.count == 64 && server.statistics.received == 64)
            for promise in begun { promise.succeed() }
            try loop.runUntil { begun.count == 84 }
            for promise in begun { promise.succeed() }
            received.cancel()
        }
    }

    @Test("a future that fails ends the loop", arguments: TestNetwork.allCases)
    func failing(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let received = server.forEachDatagram { _, _ in
                loop.sleep(for: .milliseconds(1)).map { throw Trouble() }
            }
            client.send("x", to: server.localAddress)
            #expect(loop.failure(of: received) is Trouble)
        }
    }

    @Test(
        "a cancelled loop asks its futures to cancel, and loses nothing that comes later",
        arguments: TestNetwork.allCases)
    func cancelling(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            var cancelled = 0
            var begun: [Promise<Void>] = []
            let received = server.forEachDatagram { _, _ in
                let promise = loop.makePromise(of: Void.self)
                begun.append(promise)
                promise.onCancelRequest {
                    cancelled += 1
                    return .cancel
                }
                return promise.future
            }
            for _ in 0..<2 { client.send("x", to: server.localAddress) }
            try loop.runUntil { begun.count == 2 }
            #expect(received.cancel())
            #expect(cancelled == 2)
            client.send("later", to: server.localAddress)
            #expect(try loop.run(until: server.receive()).bytes == Data("later".utf8))
        }
    }

    @Test("only one loop at a time, and no receive beside it", arguments: TestNetwork.allCases)
    func alone(network: TestNetwork) throws {
        try withSockets(network) { loop, server, _ in
            let received = server.forEachDatagram { _, _ in }
            let text =
                "another receive() or forEachDatagram is pending on this socket, and forEachDatagram takes "
                + "all datagrams; wait for it or cancel it first"
            #expect("\(loop.failure(of: server.forEachDatagram { _, _ in })!)" == text)
            #expect(loop.failure(of: server.receive()) as? DatagramError == .receivePending)
            received.cancel()
            let waiting = server.receive()
            #expect(loop.failure(of: server.forEachDatagram { _, _ in }) as? DatagramError == .receivePending)
            waiting.cancel()
        }
    }

    @Test(
        "a body whose future waits for the loop itself is a cycle", arguments: [true, false],
        TestNetwork.allCases)
    func cycle(isDirect: Bool, network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            var received: Future<Void>!
            received = server.forEachDatagram { _, _ -> Future<Void> in
                isDirect ? received : received.map {}
            }
            client.send("x", to: server.localAddress)
            #expect(loop.failure(of: received) as? FutureError == .cycle)
            received = nil
        }
    }

    @Test("a body may close the socket in the midst of what has come", arguments: TestNetwork.allCases)
    func closing(network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            var count = 0
            let received = server.forEachDatagram { bytes, header in
                count += 1
                server.send("bye", to: header.source)
                server.close()
            }
            for size in 1...5 { client.send(Data(count: size), to: server.localAddress) }
            #expect(loop.outcome(of: received).isSuccess)
            #expect(count == 1)
            #expect(try loop.run(until: client.receive()).bytes == Data("bye".utf8))
        }
    }

    @Test(
        "what a body throws or waits for after it has closed the socket changes nothing",
        arguments: [false, true], TestNetwork.allCases)
    func afterClosing(throwing: Bool, network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            let promise = loop.makePromise(of: Void.self)
            let received = server.forEachDatagram { _, _ -> Future<Void> in
                server.close()
                if throwing { throw Trouble() }
                return promise.future
            }
            client.send("x", to: server.localAddress)
            #expect(loop.outcome(of: received).isSuccess)
            promise.succeed()
        }
    }

    /// The ways to get datagrams that have come together.
    enum Receiving: CaseIterable {
        case forEach, forEachWithFuture, sequence, receive
    }

    @Test(
        "datagrams that have come together are taken in several turns, in order, if a turn has no time",
        arguments: Receiving.allCases, TestNetwork.allCases)
    func turns(receiving: Receiving, network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            loop.core.setTurnShare(.zero, stride: 0)
            let count = 100
            // All of them wait in the system.
            for number in 0..<count { client.send("\(1000 + number)", to: server.localAddress) }
            try loop.run(for: .milliseconds(1))
            let seen = Datagrams()
            seen.countTurns(of: loop)
            switch receiving {
            case .forEach:
                server.forEachDatagram { bytes, _ in seen.add(Data(copying: bytes)) }.ignoreFailure()
            case .forEachWithFuture:
                server.forEachDatagram(maxConcurrent: 1000) { bytes, _ in
                    seen.add(Data(copying: bytes))
                    return loop.succeeded()
                }
                .ignoreFailure()
            case .sequence:
                Future(on: loop) {
                    for try await datagram in server.datagrams { seen.add(datagram.bytes) }
                }
                .ignoreFailure()
            case .receive:
                Future<Void>(on: loop) { while true { seen.add(try await server.receive().value.bytes) } }
                    .ignoreFailure()
            }
            try loop.runUntil { seen.texts.count == count }
            seen.isOver = true
            #expect(seen.texts == (0..<count).map { "\(1000 + $0)" })
            #expect(seen.turns > count / 4, "\(seen.turns) turns")
        }
    }

    @Test(
        "each turn that passes on what has come before reads the clock early, so others get their turn",
        arguments: [false, true], TestNetwork.allCases)
    func earlyReading(isLoop: Bool, network: TestNetwork) throws {
        try withSockets(network) { (loop, server, client) throws in
            loop.core.setTurnShare(.zero, stride: 2)
            let count = 16
            // All of them wait in the system.
            for number in 0..<count { client.send("\(number)", to: server.localAddress) }
            try loop.run(for: .milliseconds(1))
            var (turns, texts): ([UInt64], [String]) = ([], [])
            func add(_ bytes: Data) {
                turns.append(loop.statistics.turns)
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
            if isLoop {
                server.forEachDatagram { bytes, _ in add(Data(copying: bytes)) }.ignoreFailure()
            } else {
                for _ in 0..<count { server.receive().whenSuccess { add($0.bytes) } }
            }
            try loop.runUntil { texts.count == count }
            #expect(texts == (0..<count).map { "\($0)" })
            let most = Dictionary(grouping: turns) { $0 }.values.map(\.count).sorted(by: >)
            // Without the early reading there would be three: two, and one with which the turn is spent. A loop of bodies
            // begins in the turn in which they come.
            #expect(most.dropFirst(isLoop ? 1 : 0).first == 2)
        }
    }

    private final class Datagrams {
        var texts: [String] = []
        var turns = 0
        var isOver = false

        func add(_ bytes: Data) { texts.append(String(decoding: bytes, as: UTF8.self)) }

        func countTurns(of loop: EventLoop) {
            turns += 1
            if !isOver, texts.count < 100 { loop.later(on: .nextTurn) { self.countTurns(of: loop) } }
        }
    }

    @Test("a limit of none traps with a sentence")
    func noConcurrency() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            _ = socket.forEachDatagram(maxConcurrent: 0) { _, _ in loop.succeeded() }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("forEachDatagram(maxConcurrent:) was given 0; give 1 or more."))
    }
}
