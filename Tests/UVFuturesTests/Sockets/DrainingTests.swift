import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// What a server that drains ends by itself, and what it only tells.
struct DrainingTests {
    @Test(
        "who waits for the next message, and for nothing else, is ended at once",
        arguments: ServingVerb.waiting, bothKinds)
    func idle(verb: ServingVerb, kind: (isUnix: Bool, network: TestNetwork)) throws {
        try withServed(kind, verb.serve) { server, _, client in
            let loop = server.loop
            let start = loop.now
            let end = server.drain(within: .seconds(60))
            let rest = try loop.run(until: client.readToEnd())
            #expect(rest.isEmpty && start.duration(to: loop.now) < .seconds(20))
            loop.closeAll(client)
            let summary = try loop.run(until: end)
            #expect(summary == ShutdownSummary(finished: 1))
        }
    }

    @Test("who waits for anything else is told, and ends by itself", arguments: ServingVerb.others, bothKinds)
    func told(verb: ServingVerb, kind: (isUnix: Bool, network: TestNetwork)) throws {
        try withServed(kind, verb.serve) { server, served, client in
            let loop = server.loop
            let isTold = served.draining
            let end = server.drain(within: .seconds(20))
            let isOver = client.readToEnd()
            // Longer than half of the deadline, where that costs nothing.
            try loop.run(for: kind.network == .virtual ? .seconds(15) : .milliseconds(20))
            #expect(isTold.isSuccess && !isOver.isCompleted)
            client.close()
            _ = loop.outcome(of: isOver)
            _ = server.shutdown(within: .zero)
            _ = try loop.run(until: end)
        }
    }

    @Test(
        "who waits for the next message is ended when the last answer has left, however late",
        arguments: TestNetwork.allCases)
    func lateAnswer(network: TestNetwork) throws {
        let answer = Data(count: 20_000_000)
        func serve(_ connection: SocketConnection) -> Future<Void> {
            connection.readLine().flatMap { line -> Future<Void> in
                guard let line else { return connection.close() }
                connection.write(line == Data("hello".utf8) ? Data("hello\n".utf8) : answer)
                return serve(connection)
            }
        }
        try withServed((false, network), serve) { server, served, client in
            let loop = server.loop
            client.write("all\n")
            try loop.runUntil { served.bufferedBytes > 0 }
            let end = server.drain(within: .seconds(60))
            try loop.run(for: .milliseconds(20))
            let start = loop.now
            var count = 0
            try loop.run(until: client.forEachChunk { count += $0.count })
            #expect(count == answer.count && start.duration(to: loop.now) < .seconds(20))
            loop.closeAll(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test("shutdown ends nobody before its time", arguments: [ServingVerb.lines, .forEachSpan], bothKinds)
    func shutdown(verb: ServingVerb, kind: (isUnix: Bool, network: TestNetwork)) throws {
        try withServed(kind, verb.serve) { server, served, client in
            let loop = server.loop
            let end = server.shutdown(within: .seconds(60))
            try loop.run(for: .milliseconds(20))
            client.write("again\n")
            #expect(try loop.run(until: client.readLine()) == Data("again".utf8))
            #expect(!served.isDraining)
            loop.closeAll(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test(
        "whoever has written while a read waited is never cut", arguments: ServingVerb.allCases, bothKinds)
    func push(verb: ServingVerb, kind: (isUnix: Bool, network: TestNetwork)) throws {
        for way in DrainWay.allCases where way == .drain || kind.network == .virtual {
            try withServed(kind, verb.serve) { server, served, client in
                let loop = server.loop
                // That its connection was closed by others.
                server.onConnectionError = { _ in }
                func push(_ numbers: Range<Int>) throws {
                    for number in numbers {
                        served.write("\(number)\n")
                        try loop.run(for: .milliseconds(1))
                    }
                }
                let all = client.readToEnd()
                try push(0..<3)
                let end = way.begin(server, kind.network, within: .seconds(20))
                try push(3..<20)
                // Longer than half of the deadline, where that costs nothing.
                if kind.network == .virtual { try loop.run(for: .seconds(15)) }
                served.close()
                #expect(try loop.run(until: all) == Data((0..<20).map { "\($0)\n" }.joined().utf8))
                loop.closeAll(client)
                #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
            }
        }
    }

    @Test("neither side of a proxy is cut", arguments: TestNetwork.allCases)
    func proxy(network: TestNetwork) throws {
        try withServed((false, network), ServingVerb.pipe.serve) { server, _, client in
            let loop = server.loop
            let address = server.localAddress
            let proxy = SocketServer<SocketConnection>(on: loop) { connection in
                TCPConnection.connect(host: address.host, port: address.port, on: loop).flatMap { peer in
                    Future.all([connection.pipe(to: peer), peer.pipe(to: connection)]).always { peer.close() }
                }
            }
            try proxy.listen(host: "127.0.0.1", port: 0)
            let user = try loop.connect(to: proxy.localAddress)
            #expect(try loop.ask(user, "0") == "0")
            let ends = [proxy.drain(within: .seconds(60)), server.drain(within: .seconds(60))]
            for number in 1..<20 { #expect(try loop.ask(user, "\(number)") == "\(number)") }
            loop.closeAll(user, client)
            for end in ends { #expect(try loop.run(until: end).aborted == 0) }
        }
    }

    @Test(
        "who owns its connection is told, and has half of the time if the peer is silent",
        arguments: [(false, false), (true, false), (false, true), (true, true)], TestNetwork.allCases)
    func owning(way: (isSilent: Bool, proxied: Bool), network: TestNetwork) throws {
        let (isSilent, proxied) = way
        try withLoop(network) { loop in
            var kept: [TCPConnection] = []
            let server = TCPServer(
                on: loop,
                owning: { connection in
                    kept.append(connection)
                    connection.forEachChunk { connection.write($0) }.ignoreFailure()
                })
            try server.listen(host: "127.0.0.1", port: 0)
            if proxied { server.proxyProtocol = ProxyProtocol() }
            let client = try loop.connect(to: server.localAddress)
            let address = server.localAddress
            if proxied { client.write(try ProxyHeader(source: address, destination: address).bytes(.v2)) }
            try loop.runUntil { !kept.isEmpty }
            if !isSilent { #expect(try loop.ask(client, "hello") == "hello") }
            let start = loop.now
            let end = server.drain(within: isSilent ? .seconds(1) : .seconds(60))
            let over = client.readToEnd()
            if isSilent {
                #expect(try loop.run(until: over).isEmpty)
                #expect(start.duration(to: loop.now) >= .milliseconds(500))
            } else {
                try loop.run(for: network == .virtual ? .seconds(40) : .milliseconds(20))
                #expect(kept[0].isDraining && !over.isCompleted)
            }
            client.close()
            _ = loop.outcome(of: over)
            _ = server.shutdown(within: .zero)
            _ = try loop.run(until: end)
            kept = []
        }
    }

    @Test("who is in the middle of a message says so", arguments: bothKinds)
    func middle(kind: (isUnix: Bool, network: TestNetwork)) throws {
        func serve(_ connection: SocketConnection) -> Future<Void> {
            connection.endsWhenIdle = false
            return ServingVerb.lines.serve(connection)
        }
        try withServed(kind, serve) { server, served, client in
            let loop = server.loop
            let end = server.drain(within: .seconds(60))
            let rest = client.readToEnd()
            try loop.run(for: .milliseconds(20))
            #expect(!rest.isCompleted)
            served.endsWhenIdle = true
            client.write("rest\n")
            #expect(try loop.run(until: rest) == Data("rest\n".utf8))
            loop.closeAll(client)
            #expect(try loop.run(until: end) == ShutdownSummary(finished: 1))
        }
    }

    @Test("bodies that wait for each other in a circle are no evidence", arguments: TestNetwork.allCases)
    func circle(network: TestNetwork) throws {
        func serve(_ connection: SocketConnection) -> Future<Void> {
            let loop = connection.loop
            let second = loop.makePromise(of: Void.self)
            let first = Future(on: loop) { try await second.future.value }
            second.complete { try await first.value }
            return connection.readLine().unwrap().flatMap { connection.write([$0, Data("\n".utf8)]) }
                .flatMap {
                    connection.read().ignoreFailure()
                    return first
                }
        }
        try withServed((false, network), serve) { server, _, client in
            let summary = try server.loop.run(until: server.drain(within: .milliseconds(100)))
            #expect(summary == ShutdownSummary(aborted: 1))
            server.loop.closeAll(client)
        }
    }
}
