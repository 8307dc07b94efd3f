import Foundation
import Futures
import TestSupport
import Testing
import UVFutures

struct TCPServerGroupTests {
    @Test("connections are spread over all loops, and stay on theirs")
    func spreads() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 3) { connection in
                connection.forEachChunk { _ in connection.write(name(of: connection.loop)) }
            }
            #expect(group.loops.count == 3)
            let addresses = try loop.run(until: group.onEach(on: loop) { $0.localAddress })
            #expect(addresses == Array(repeating: group.localAddress, count: 3))
            var served: Set<String> = []
            // Of so many the system gives none to a loop in one of 10^17 runs.
            for _ in 0..<100 {
                let client = try loop.connect(to: group.localAddress)
                for _ in 0..<2 {
                    client.write("?")
                    served.insert(String(decoding: try loop.run(until: client.read()), as: UTF8.self))
                }
                loop.closeAll(client)
            }
            #expect(served == Set(group.loops.map(name)))
            try loop.run(until: group.shutdown(within: .seconds(60), on: loop).map { _ in })
        }
    }

    @Test("a group says that it has ended when the last of its loops has")
    func lastLoop() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 3) { connection in
                connection.forEachChunk { _ in }
            }
            let held = Locked<CheckedContinuation<Void, Never>?>(nil)
            let slow = group.loops[1]
            slow.execute {
                Future(on: slow) { await withCheckedContinuation { waits in held.withLock { $0 = waits } } }
                    .ignoreFailure()
            }
            #expect(eventually { held.withLock { $0 } != nil })
            let ended = group.shutdown(within: .zero, on: loop)
            #expect(eventually { [0, 2].allSatisfy { !group.loops[$0].execute {} } })
            for _ in 0..<10 { try loop.run(until: RemoteContext.pool.execute(on: loop) {}) }
            #expect(!ended.isCompleted)
            held.withLock { $0 }?.resume()
            _ = try loop.run(until: ended)
        }
    }

    @Test("a group has ended when all that it has ended has been told", arguments: [false, true])
    func toldLast(drains: Bool) throws {
        try withLoop { loop in
            let told = Counter()
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                let read = connection.read()
                read.tell(told)
                return read
            }
            let clients = try (0..<6).map { _ in try loop.connect(to: group.localAddress) }
            var open = 0
            while open < clients.count {
                open = try loop.run(until: group.onEach(on: loop) { $0.activeConnections }).reduce(0, +)
            }
            let ended =
                drains ? group.drain(within: .zero, on: loop) : group.shutdown(within: .zero, on: loop)
            var toldAtEnd: Int?
            ended.whenSuccess { _ in toldAtEnd = told.value }
            #expect(try loop.run(until: ended).aborted == clients.count)
            #expect(toldAtEnd == 3 * clients.count)
            for client in clients { client.abort() }
        }
    }

    @Test("shutting down aborts what is open on any loop after the grace, and ends the loops")
    func shutsDown() throws {
        weak var freed: LoopCore?
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                connection.forEachChunk { connection.write($0) }
            }
            freed = group.loops[1].core
            var clients = try (0..<40).map { _ in try loop.connect(to: group.localAddress) }
            func active() throws -> [Int] {
                try loop.run(until: group.onEach(on: loop) { $0.activeConnections })
            }
            while try active().reduce(0, +) < 40 {}
            #expect(try !active().contains(0))
            loop.closeAll(clients.removeLast())
            while try active().reduce(0, +) == 40 {}
            let patient = group.shutdown(within: .seconds(600), on: loop)
            let impatient = group.shutdown(within: .zero, on: loop)
            let expected = [0, 39]
            #expect(try counts(loop.run(until: patient)) == expected)
            #expect(try counts(loop.run(until: impatient)) == expected)
            let again = try loop.run(until: group.shutdown(within: .zero, on: loop))
            #expect(counts(again) == expected)
            for client in clients {
                #expect((loop.failure(of: client.read()) as? SystemError)?.code == .connectionReset)
            }
            let refused = loop.failure(
                of: TCPConnection.connect(host: "127.0.0.1", port: group.localAddress.port, on: loop))
            #expect((refused as? SystemError)?.code == .connectionRefused)
            let late = loop.failure(of: group.onEach(on: loop) { _ in 1 })
            #expect(late as? FutureError == .shutDown)
        }
        #expect(eventually { freed == nil })
    }

    @Test(
        "connections finish within the grace, on all loops, and a handler that returns nothing owns its own")
    func finishes() async throws {
        let host = loopbackHosts.last!
        let group = try TCPServerGroup.listen(
            host: host, port: 0, loops: 2, name: "test",
            owning: { connection in connection.write("hello\n").whenComplete { _ in connection.close() } })
        let text = try await group.loops[0].run {
            TCPConnection.connect(host: host, port: group.localAddress.port, on: group.loops[0])
                .flatMap { client in client.readToEnd(limit: 100).always { client.close() } }
        }
        #expect(text == Data("hello\n".utf8))
        while try await group.onEach({ $0.activeConnections }).reduce(0, +) > 0 {}
        let summary = try await group.shutdown(within: .seconds(60))
        #expect(counts(summary) == [0, 0])
        #expect(try await group.shutdown(within: .seconds(60)) == summary)
        await #expect(throws: FutureError.shutDown) { try await group.onEach { $0.activeConnections } }
    }

    @Test("draining tells the connections on all loops, and serves what they have asked for")
    func drains() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                connection.forEachChunk { connection.write($0) }
            }
            let clients = try (0..<20).map { _ in try loop.connect(to: group.localAddress) }
            for client in clients {
                client.write("?")
                #expect(try loop.run(until: client.read()) == Data("?".utf8))
            }
            let draining = group.drain(within: .seconds(600), on: loop)
            for client in clients {
                #expect(try loop.run(until: client.read()).isEmpty)
                client.close()
            }
            #expect(try counts(loop.run(until: draining)) == [20, 0])
        }
    }

    @Test("a signal drains the group, another one ends it now, and the loop runs until then")
    func signals() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                    connection.forEachChunk { connection.write($0) }
                }
                let given = group.drain(on: .user1, within: .seconds(1), for: loop)
                given.cancel()
                let ended = group.drain(on: .user1, .user2, within: .seconds(600), for: loop)
                let client = try loop.connect(to: group.localAddress)
                client.write("?")
                _ = try loop.run(until: client.read())
                kill(getpid(), SIGUSR1)
                #expect(try loop.run(until: client.read()).isEmpty)
                #expect(!ended.isCompleted)
                kill(getpid(), SIGUSR2)
                #expect(try counts(loop.run(until: ended)) == [0, 1])
                client.abort()
                let late = loop.failure(of: group.drain(on: .user1, within: .seconds(-1), for: loop))
                #expect(
                    late as? FutureError
                        == .invalidArgument("a deadline of -1.0 seconds is negative; give zero or more"))
            }
        }
    }

    @Test("waiting for a signal keeps the loop running, and lets go of it when it is cancelled")
    func waits() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
                $0.forEachChunk { _ in }
            }
            let ended = group.drain(on: .user2, within: .zero, for: loop)
            let tick = loop.schedule(after: .milliseconds(1), keepsLoopAlive: false) { ended.cancel() }
            try loop.run()
            #expect(tick.future.isCompleted)
            _ = try loop.run(until: group.shutdown(within: .zero, on: loop))
        }
    }

    @Test("the limits on connections are those of each loop")
    func limits() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(
                host: "127.0.0.1", port: 0, loops: 2, accepting: AcceptLimits(maxConnections: 3)
            ) { connection in connection.forEachChunk { connection.write($0) } }
            let clients = try (0..<60).map { _ in try loop.connect(to: group.localAddress) }
            func statistics() throws -> [ServerStatistics] {
                try loop.run(until: group.onEach(on: loop) { $0.statistics })
            }
            while try statistics().contains(where: { $0.pauses == 0 }) {}
            #expect(try statistics().map(\.active) == [3, 3])
            _ = try loop.run(until: group.shutdown(within: .zero, on: loop))
            for client in clients { client.abort() }
        }
    }

    @Test(
        "each loop reads the header of a proxy, from its first connection on",
        arguments: ["v1", "v2", "none"])
    func proxied(version: String) throws {
        try withLoop { loop in
            var rules = ProxyProtocol()
            rules.isTrusted = { $0?.host == "127.0.0.1" }
            let group = try TCPServerGroup.listen(
                host: "127.0.0.1", port: 0, loops: 2, proxyProtocol: rules
            ) { connection in
                connection.write("\(connection.peerAddress!.host) \(name(of: connection.loop))\n")
            }
            let errors = Locked<[String]>([])
            _ = try loop.run(
                until: group.onEach(on: loop) { server in
                    server.onConnectionError = { error in errors.withLock { $0.append("\(error)") } }
                })
            let header = try ProxyHeader(source: clientAddress, destination: frontAddress)
            var served: Set<String> = []
            // Of so many the system gives none to a loop in one of 10^12 runs.
            for _ in 0..<40 {
                let proxy = try loop.connect(to: group.localAddress)
                switch version {
                case "v1": proxy.write(try header.bytes(.v1))
                case "v2": proxy.write(try header.bytes(.v2))
                default:
                    proxy.write("GET / HTTP/1.1\r\n")
                    #expect((loop.failure(of: proxy.read()) as? SystemError)?.code == .connectionReset)
                    continue
                }
                let line = try #require(try loop.run(until: proxy.readLine()))
                served.insert(String(decoding: line, as: UTF8.self))
                loop.closeAll(proxy)
            }
            _ = try loop.run(until: group.shutdown(within: .seconds(60), on: loop))
            if version == "none" {
                #expect(errors.withLock { $0.count } == 40)
            } else {
                #expect(served == Set(group.loops.map { "192.0.2.7 \(name(of: $0))" }))
                #expect(errors.withLock { $0 } == [])
            }
        }
    }

    @Test("cancelling the task does not keep a group from being shut down")
    func cancelled() async throws {
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
            $0.forEachChunk { _ in }
        }
        #expect(try await group.onEach { $0.activeConnections } == [0])
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await group.shutdown(within: .zero)
        }
        #expect(try await counts(task.value) == [0, 0])
    }

    @Test("arguments that make no sense, and a port that is taken, are refused")
    func refuses() throws {
        func listen(port: Int = 0, loops: Int = 2) throws -> TCPServerGroup {
            try TCPServerGroup.listen(host: "127.0.0.1", port: port, loops: loops) {
                $0.forEachChunk { _ in }
            }
        }
        for loops in [0, -1, 1025] {
            #expect(throws: FutureError.invalidArgument("\(loops) loops are out of range; give 1 to 1024")) {
                try listen(loops: loops)
            }
        }
        #expect(
            throws: FutureError.invalidArgument(
                "maxConnections must be at least 1, not 0; give nil for no limit")
        ) {
            try TCPServerGroup.listen(
                host: "127.0.0.1", port: 0, loops: 1, accepting: AcceptLimits(maxConnections: 0)
            ) { $0.forEachChunk { _ in } }
        }
        var rules = ProxyProtocol()
        rules.maximumSize = 15
        #expect(
            throws: FutureError.invalidArgument(
                "maximumSize must be at least 16, not 15")
        ) {
            try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1, proxyProtocol: rules) {
                $0.forEachChunk { _ in }
            }
        }
        #expect(throws: FutureError.invalidArgument("port -1 is out of range; give 0 to 65535")) {
            try listen(port: -1)
        }
        let taken = PlainSocket.bound(backlog: 1)
        let error = #expect(throws: SystemError.self) { try listen(port: taken.port) }
        #expect("\(error!)" == "listen EADDRINUSE 127.0.0.1:\(taken.port): address already in use")
        try withLoop { loop in
            let group = try listen()
            let negative = [
                group.shutdown(within: .seconds(-1), on: loop), group.drain(within: .seconds(-1), on: loop),
            ]
            for future in negative {
                #expect(
                    loop.failure(of: future) as? FutureError
                        == .invalidArgument("a time limit of -1.0 seconds is negative; give zero or more"))
            }
            #expect(try counts(loop.run(until: group.shutdown(within: .zero, on: loop))) == [0, 0])
        }
    }

    @Test("a group whose loop was shut down by somebody else shuts the others down and says so")
    func partly() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) {
                $0.forEachChunk { _ in }
            }
            group.loops[1].stop()
            #expect(eventually { !group.loops[1].execute {} })
            #expect(loop.failure(of: group.shutdown(within: .zero, on: loop)) != nil)
            #expect(eventually { !group.loops[0].execute {} })
        }
    }
}

/// Finished and aborted.
private func counts(_ summary: ShutdownSummary) -> [Int] { [summary.finished, summary.aborted] }

private func name(of loop: EventLoop) -> String { "\(loop.hashValue)" }
