import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

struct EndingTests {
    @Test(
        "what waits for nothing is half-closed, what is in hand is finished first",
        arguments: TestNetwork.allCases)
    func finishes(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, answerLines)
            let idle = try loop.connect(to: server.localAddress)
            let inTheMiddle = try loop.connect(to: server.localAddress)
            for client in [idle, inTheMiddle] { #expect(try loop.ask(client, "a") == "a") }
            inTheMiddle.write("half a ")
            try loop.run(for: .milliseconds(10))

            let drained = server.drain(within: .seconds(60))
            #expect(try loop.run(until: idle.read()).isEmpty)
            #expect(server.statistics.draining == 2)
            let rest = inTheMiddle.readLine()
            try loop.run(for: .milliseconds(10))
            #expect(!rest.isCompleted)
            inTheMiddle.write("line\n")
            #expect(try loop.run(until: rest) == Data("half a line".utf8))
            #expect(try loop.run(until: inTheMiddle.read()).isEmpty)
            #expect(!drained.isCompleted)
            loop.closeAll(idle, inTheMiddle)
            #expect(try loop.run(until: drained) == ShutdownSummary(finished: 2, aborted: 0))
            #expect(server.statistics.draining == 0)
        }
    }

    @Test(
        "a message in parts is finished, though nothing of it is left unread in between",
        arguments: [true, false], TestNetwork.allCases)
    func parts(byChunks: Bool, network: TestNetwork) throws {
        try withLoop(network) { loop in
            var sizes: [Int] = []
            func handle(_ connection: TCPConnection) -> Future<Void> {
                if byChunks {
                    return connection.forEachChunk { chunk in
                        sizes.append(chunk.count)
                        return sizes.count == 2 ? connection.write("got it\n") : loop.succeeded()
                    }
                }
                return connection.readLine().flatMap { line in
                    sizes.append(line!.count + 1)
                    return connection.read(exactly: 5)
                }
                .flatMap { body in
                    sizes.append(body!.count)
                    return connection.write("got it\n").flatMap { connection.read() }
                }
                .map { #expect($0.isEmpty) }
            }
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, handle)
            let client = try loop.connect(to: server.localAddress)
            client.write("head\n")
            try loop.runUntil { !sizes.isEmpty }
            let drained = server.drain(within: .seconds(60))
            let answer = client.readToEnd(limit: 100)
            try loop.run(for: .milliseconds(10))
            #expect(!answer.isCompleted)
            client.write("body\n")
            #expect(try loop.run(until: answer) == Data("got it\n".utf8))
            #expect(sizes == [5, 5])
            loop.closeAll(client)
            #expect(try loop.run(until: drained) == ShutdownSummary(finished: 1, aborted: 0))
        }
    }

    @Test(
        "what waits in the backlog is served before the sockets are closed", arguments: [nil, 4],
        TestNetwork.allCases)
    func backlog(limit: Int?, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = TCPServer(on: loop, answerLines)
            try server.setAcceptLimits(AcceptLimits(maxConnections: limit))
            let ports = try (0..<2).map { _ in try server.listen(host: "127.0.0.1", port: 0).port }
            var clients = (0..<100).map { Peer(network, port: ports[$0 % 2], on: loop) }
            for client in clients { #expect(client.send(Array("hello\n".utf8))) }
            var summary: Future<ShutdownSummary>?
            network.whenInBacklog(on: loop) { summary = server.drain(within: .seconds(60)) }
            while !clients.isEmpty {
                var answered: Int?
                try loop.runUntil {
                    answered = clients.firstIndex { $0.receive() == Array("hello\n".utf8) }
                    return answered != nil
                }
                let client = clients.remove(at: answered!)
                try loop.runUntil { client.receive() == [] }
            }
            #expect(try loop.run(until: summary!) == ShutdownSummary(finished: 100, aborted: 0))
            for port in ports {
                let late = loop.failure(of: TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
                #expect((late as? SystemError)?.code == .connectionRefused)
            }
        }
    }

    @Test(
        "the sockets are closed too when as many wait as are taken in one turn", arguments: [1, 2],
        TestNetwork.allCases)
    func wholeShares(shares: Int, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = TCPServer(on: loop, answerLines)
            try server.setAcceptLimits(AcceptLimits(perTurn: 4))
            let port = try server.listen(host: "127.0.0.1", port: 0).port
            let clients = (0..<shares * 4).map { _ in Peer(network, port: port, on: loop) }
            var summary: Future<ShutdownSummary>?
            network.whenInBacklog(on: loop) { summary = server.drain(within: .seconds(600)) }
            for client in clients { client.shutdown() }
            try loop.runUntil { summary?.isCompleted == true }
            #expect(try loop.run(until: summary!) == ShutdownSummary(finished: clients.count, aborted: 0))
        }
    }

    @Test(
        "no more are accepted than the backlog holds, though each that is accepted brings another",
        arguments: TestNetwork.allCases)
    func fullBacklog(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var others: [Future<TCPConnection>] = []
            let server = TCPServer(
                on: loop,
                owning: { connection in
                    let port = connection.localAddress!.port
                    if others.count < 20 {
                        others.append(TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
                    }
                    connection.abort()
                })
            let options = ListenOptions(backlog: 3)
            let port = try server.listen(host: "127.0.0.1", port: 0, options: options).port
            let clients = (0..<4).map { _ in Peer(network, port: port, on: loop) }
            var summary: Future<ShutdownSummary>?
            network.whenInBacklog(on: loop) { summary = server.drain(within: .seconds(600)) }
            try loop.runUntil { summary?.isCompleted == true }
            #expect(server.statistics.accepted == 4)
            withExtendedLifetime(clients) {}
            for other in others {
                if case .success(let connection) = loop.outcome(of: other) { connection.abort() }
            }
        }
    }

    @Test("a server cannot end in time on a loop that has been shut down", arguments: TestNetwork.allCases)
    func afterLoop(network: TestNetwork) throws {
        let loop = try network.makeLoop()
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
        loop.shutdown()
        for end in [server.shutdown(within: .zero), server.drain(within: .seconds(1))] {
            #expect(end.ignoreFailure().result?.failureText == "\(FutureError.shutDown)")
        }
    }

    @Test(
        "at the deadline what is open is ended, and what still waits is reset",
        arguments: TestNetwork.allCases)
    func deadline(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let promise = loop.makePromise(of: Void.self)
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, accepting: AcceptLimits(maxConnections: 1), on: loop
            ) { _ in promise.future }
            server.onConnectionError = { Issue.record($0) }
            let client = try loop.connect(to: server.localAddress)
            let waiting = Peer(network, port: server.localAddress.port, on: loop)
            try loop.runUntil { server.statistics.pauses == 1 }
            let start = loop.now
            let drained = server.drain(within: .milliseconds(30))
            #expect(try loop.run(until: drained) == ShutdownSummary(finished: 0, aborted: 1))
            #expect(start.duration(to: loop.now) >= .milliseconds(30))
            #expect(try loop.run(until: client.read()).isEmpty)
            loop.closeAll(client)
            // A process that is being started may have a copy of the listening socket for a moment.
            try loop.runUntil { waiting.receive() == [] }
            promise.succeed()
        }
    }

    @Test("a peer that has sent nothing yet has until half of the deadline", arguments: TestNetwork.allCases)
    func fresh(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, answerLines)
            let (silent, late) = (
                try loop.connect(to: server.localAddress), try loop.connect(to: server.localAddress)
            )
            try loop.runUntil { server.activeConnections == 2 }
            let start = loop.now
            let drained = server.drain(within: .seconds(4))
            let end = silent.read()
            #expect(try loop.ask(late, "first") == "first")
            #expect(try loop.run(until: late.read()).isEmpty)
            #expect(!end.isCompleted)
            #expect(try loop.run(until: end).isEmpty)
            #expect(start.duration(to: loop.now) >= .seconds(2))
            loop.closeAll(silent, late)
            #expect(try loop.run(until: drained) == ShutdownSummary(finished: 2, aborted: 0))
        }
    }

    @Test(
        "a message that comes after the half-close is cut, and that is told", arguments: TestNetwork.allCases)
    func tooLate(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                connection.forEachChunk { chunk in connection.write(chunk) }
            }
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = try loop.connect(to: server.localAddress)
            #expect(try loop.ask(client, "a") == "a")
            let drained = server.drain(within: .seconds(60))
            #expect(try loop.run(until: client.read()).isEmpty)
            client.write("too late")
            try loop.runUntil { server.statistics.bytesReceived == 10 }
            #expect(try loop.run(until: client.close()) == ())
            #expect(try loop.run(until: drained) == ShutdownSummary(cut: 1))
            #expect(reported.count == 1 && reported.first as? StreamError == .drained)
        }
    }

    @Test(
        "drain can be called again, and after close; a server that has begun to end listens no more",
        arguments: TestNetwork.allCases)
    func again(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, answerLines)
            let negative = loop.failure(of: server.drain(within: .seconds(-1)))
            let text = "drain(within:) was given -1.0 seconds; give zero or more"
            #expect(negative as? FutureError == .invalidArgument(text))
            let client = try loop.connect(to: server.localAddress)
            #expect(try loop.ask(client, "a") == "a")
            let patient = server.drain(within: .seconds(60))
            #expect(
                throws: FutureError.invalidArgument(
                    "the server has been closed; make another one to listen again")
            ) {
                try server.listen(host: "127.0.0.1", port: 0)
            }
            let impatient = server.drain(within: .zero)
            #expect(try loop.run(until: patient) == ShutdownSummary(finished: 0, aborted: 1))
            #expect(try loop.run(until: impatient) == ShutdownSummary(finished: 0, aborted: 1))
            #expect(try loop.run(until: server.shutdown(within: .zero)).aborted == 1)
            _ = loop.outcome(of: client.close())

            let closed = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, answerLines)
            closed.close()
            #expect(try loop.run(until: closed.drain(within: .seconds(60))) == ShutdownSummary())
            #expect(
                try loop.run(until: TCPServer(on: loop, answerLines).drain(within: .zero))
                    == ShutdownSummary())
        }
    }

    @Test("after a signal under load each message that the server had begun to read is answered in full")
    func underLoad() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let progress = Progress()
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    let port = connection.peerAddress!.port
                    var line: [UInt8] = []
                    return connection.forEachChunk { chunk in
                        line += chunk
                        // Not what came after the half-close.
                        if case .failure? = connection.write(Data()).result { return loop.succeeded() }
                        progress.add(chunk.count, for: port)
                        guard line.last == UInt8(ascii: "\n") else { return loop.succeeded() }
                        defer { line = [] }
                        return connection.write(line)
                    }
                }
                server.onConnectionError = { Issue.record($0) }
                let port = server.localAddress.port
                let (started, answered, ended) = (Counter(), Counter(), Counter())
                let clients = isSoaking ? 64 : 16
                for number in 0..<clients {
                    startThread {
                        let client = PlainSocket.connected(to: port)
                        var sent = 0
                        var rounds = 0
                        while true {
                            rounds += 1
                            if number == 0, rounds == 50 { kill(getpid(), SIGTERM) }
                            sent += 7
                            guard client.send(Array("hello, ".utf8)) else { break }
                            // Until the server has it, or has ended the connection without.
                            var isOpen = true
                            while progress.count(for: client.port) < sent, isOpen {
                                isOpen = client.receive() == nil
                            }
                            guard isOpen || progress.count(for: client.port) >= sent else { break }
                            started.add(1)
                            sent += 6
                            guard client.send(Array("world\n".utf8)) else { break }
                            guard client.receiveExactly(13) == Array("hello, world\n".utf8) else { break }
                            answered.add(1)
                        }
                        return true
                    } ended: { _ in
                        ended.add(1)
                    }
                }
                let summary = try loop.run(until: server.drain(on: .terminate, within: .seconds(60)))
                #expect(summary == ShutdownSummary(finished: clients, aborted: 0))
                #expect(eventually { ended.value == clients })
                #expect(started.value == answered.value)
                #expect(answered.value >= 49)
            }
        }
    }

    @Test("close stops accepting, and lets connections go on", arguments: TestNetwork.allCases)
    func closing(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            let client = try loop.connect(to: server.localAddress)
            client.write("a")
            _ = try loop.run(until: client.read())
            try loop.run(until: server.close())
            try loop.run(until: server.close())
            let (host, port) = (server.localAddress.host, server.localAddress.port)
            let refused = loop.failure(of: TCPConnection.connect(host: host, port: port, on: loop))
            #expect((refused as? SystemError)?.code == .connectionRefused)
            client.write("b")
            #expect(try loop.run(until: client.read()) == Data("b".utf8))
            loop.closeAll(client)
            try loop.run()
        }
    }

    @Test(
        "shutdown waits for connections, and aborts those that last beyond the grace",
        arguments: TestNetwork.allCases)
    func shutsDown(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            server.onConnectionError = { Issue.record($0) }
            let clients = try (0..<5).map { _ in try loop.connect(to: server.localAddress) }
            for client in clients {
                client.write("x")
                _ = try loop.run(until: client.read())
            }
            let start = loop.now
            let summary = server.shutdown(within: .milliseconds(30))
            for client in clients.prefix(2) { client.close() }
            let result = try loop.run(until: summary)
            #expect(start.duration(to: loop.now) >= .milliseconds(30))
            #expect(result.finished == 2)
            #expect(result.aborted == 3)
            for client in clients.dropFirst(2) { #expect(try loop.run(until: client.read()).isEmpty) }
            loop.closeAll(Array(clients))
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test(
        "shutdown without connections does not wait, and a second one may be more impatient",
        arguments: TestNetwork.allCases)
    func shutsDownTwice(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let idle = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            #expect(try loop.run(until: idle.shutdown(within: .seconds(60))).finished == 0)
            #expect(try loop.run(until: idle.shutdown(within: .seconds(60))).finished == 0)

            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            let client = try loop.connect(to: server.localAddress)
            client.write("x")
            _ = try loop.run(until: client.read())
            let patient = server.shutdown(within: .seconds(60))
            let impatient = server.shutdown(within: .zero)
            #expect(try loop.run(until: patient).aborted == 1)
            #expect(try loop.run(until: impatient).aborted == 1)
            #expect(loop.failure(of: client.read()) is SystemError)
            try loop.run()
            #expect(loop.statistics.timers == 0)
        }
    }

    @Test("a negative grace is refused, and stops nothing", arguments: TestNetwork.allCases)
    func negativeGrace(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
            let text = "shutdown(within:) was given -1.0 seconds; give zero or more"
            #expect(
                loop.failure(of: server.shutdown(within: .seconds(-1))) as? FutureError
                    == .invalidArgument(text))
            let client = try loop.connect(to: server.localAddress)
            loop.closeAll(client)
            server.close()
        }
    }

    @Test(
        "connections are aborted so many at a time that timers and I/O get their turns in between",
        arguments: TestNetwork.allCases)
    func abortedInShares(network: TestNetwork) throws {
        try withLoop(network) { loop in
            loop.core.setTurnShare(.seconds(60))
            var aborted = 0
            let server = try TCPServer.listen(
                host: "127.0.0.1", port: 0, on: loop,
                owning: { connection in connection.read().whenFailure { _ in aborted += 1 } })
            server.onConnectionError = { _ in }
            let clients = (0..<300).map { _ in Peer(network, port: server.localAddress.port, on: loop) }
            try loop.runUntil { server.activeConnections == clients.count }
            var shares: [Int] = []
            loop.observe { event in
                guard case .turnEnded = event else { return }
                if aborted > shares.reduce(0, +) { shares.append(aborted - shares.reduce(0, +)) }
            }
            #expect(try loop.run(until: server.shutdown(within: .zero)).aborted == clients.count)
            #expect(shares == [256, 44])
            #expect(server.statistics.closes == [.aborted: clients.count])
        }
    }
}

/// Sends each line back.
func answerLines(_ connection: TCPConnection) -> Future<Void> {
    connection.readLine().flatMap { line -> Future<Void> in
        guard let line else { return connection.loop.succeeded() }
        return connection.write([line, Data("\n".utf8)]).flatMap { answerLines(connection) }
    }
}

extension EventLoop {
    /// What `client` answers to a line.
    func ask(_ client: TCPConnection, _ line: String) throws -> String? {
        client.write(line + "\n")
        return try run(until: client.readLine()).map { String(decoding: $0, as: UTF8.self) }
    }
}
