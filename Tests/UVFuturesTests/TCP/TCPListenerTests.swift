import FoundationEssentials
import Testing
import UVFutures

struct TCPListenerTests {
    @Test("connections are accepted one by one, in the order in which they came")
    func accepts() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let clients = try (0..<5).map { _ in try loop.connect(to: listener.localAddress) }
            for client in clients {
                let accepted = try loop.run(until: listener.accept())
                #expect(accepted.peerAddress == client.localAddress)
                loop.closeAll(accepted, client)
            }
        }
    }

    @Test("several may wait for a connection at a time")
    func acceptsSeveral() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accepts = (0..<3).map { _ in listener.accept() }
            let clients = try (0..<3).map { _ in try loop.connect(to: listener.localAddress) }
            let accepted = try loop.run(until: Future.all(accepts))
            #expect(accepted.map(\.peerAddress) == clients.map(\.localAddress))
            loop.closeAll(accepted + clients)
        }
    }

    @Test("a cancelled accept takes no connection from the next one")
    func cancelledAccept() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let first = listener.accept()
            let second = listener.accept()
            #expect(first.cancel())
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: second)
            #expect(accepted.peerAddress == client.localAddress)
            loop.closeAll(client, accepted)
        }
    }

    @Test("closing cancels what waits for a connection, and what comes later")
    func closing() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let accepts = [listener.accept(), listener.accept()]
            let closed = listener.close()
            listener.close()
            for accept in accepts { #expect(throws: CancellationError.self) { try accept.result?.get() } }
            #expect(throws: CancellationError.self) { try listener.accept().result?.get() }
            try loop.run(until: closed)
            try loop.run(until: listener.close())
            let (host, port) = (listener.localAddress.host, listener.localAddress.port)
            let late = loop.failure(of: TCPConnection.connect(host: host, port: port, on: loop))
            #expect((late as? UVError)?.code == .connectionRefused)
        }
    }

    @Test("closing ends connections that nobody has accepted")
    func closingUnaccepted() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let clients = try (0..<3).map { _ in try loop.connect(to: listener.localAddress) }
            try loop.run(until: listener.close())
            for client in clients {
                // A reset, or the end if libuv had taken it from the system.
                let outcome = loop.outcome(of: client.read())
                #expect((try? outcome.get())?.isEmpty != false)
                _ = loop.outcome(of: client.close())
            }
        }
    }

    @Test("a listener that nobody holds is closed, but not while an accept is pending")
    func dropped() throws {
        try withLoop { loop in
            var accept: Future<TCPConnection>?
            let address: SocketAddress
            do {
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                address = listener.localAddress
                accept = listener.accept()
            }
            let client = try loop.connect(to: address)
            let accepted = try loop.run(until: accept!)
            accept = nil
            loop.closeAll(client, accepted)
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("an address in use is refused")
    func inUse() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let port = listener.localAddress.port
            let error = #expect(throws: UVError.self) {
                try TCPListener(host: "127.0.0.1", port: port, on: loop)
            }
            #expect(error?.code == .addressInUse)
            #expect("\(error!)" == "listen EADDRINUSE 127.0.0.1:\(port): address already in use")
            // A connection that it had leaves the address in TIME_WAIT, which does not keep it.
            let client = try loop.connect(to: listener.localAddress)
            let accepted = try loop.run(until: listener.accept())
            loop.closeAll(accepted, client)
            try loop.run(until: listener.close())
            try loop.run(until: TCPListener(host: "127.0.0.1", port: port, on: loop).close())
        }
    }

    @Test("an address of another machine is refused")
    func notOurs() throws {
        try withLoop { loop in
            let error = #expect(throws: UVError.self) {
                try TCPListener(host: "192.0.2.1", port: 0, on: loop)
            }
            #expect(error?.code == .addressNotAvailable)
            try loop.run()
        }
    }

    @Test(
        "the address of all IPv6 interfaces takes connections over IPv4 too",
        .enabled(if: loopbackHosts.contains("::1")))
    func bothFamilies() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "::", port: 0, on: loop)
            for host in loopbackHosts {
                let port = listener.localAddress.port
                let client = TCPConnection.connect(host: host, port: port, on: loop)
                let (connected, accepted) = try loop.run(until: client.and(listener.accept()))
                #expect(accepted.localAddress?.host == (host == "::1" ? "::1" : "::ffff:127.0.0.1"))
                loop.closeAll(connected, accepted)
            }
        }
    }

    @Test("arguments out of range are refused")
    func arguments() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            limits.readHighWaterMark = 0
            let attempts = [
                { try TCPListener(host: "127.0.0.1", port: 65_536, on: loop) },
                { try TCPListener(host: "127.0.0.1", port: -1, on: loop) },
                { try TCPListener(host: "127.0.0.1", port: 0, backlog: -1, on: loop) },
                { try TCPListener(host: "127.0.0.1", port: 0, backlog: .max, on: loop) },
                { try TCPListener(host: "127.0.0.1", port: 0, limits: limits, on: loop) },
                { try TCPListener(host: "example.com", port: 0, on: loop) },
                { try TCPListener(host: "", port: 0, on: loop) },
            ]
            for attempt in attempts {
                let error = #expect(throws: FutureError.self) { try attempt() }
                if case .invalidArgument = error { continue }
                Issue.record("an argument was accepted, or refused as \(String(describing: error))")
            }
        }
    }

    @Test("a storm of connections is accepted over several rounds, all of them")
    func storm() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let (host, port) = (listener.localAddress.host, listener.localAddress.port)
            let clients = try loop.run(
                until: Future.all(
                    (0..<300).map { _ in TCPConnection.connect(host: host, port: port, on: loop) }))
            let accepted = try loop.run(until: Future.all((0..<300).map { _ in listener.accept() }))
            #expect(Set(accepted.map(\.peerAddress)) == Set(clients.map(\.localAddress)))
            for connection in accepted + clients { connection.abort() }
            try loop.run(until: listener.close())
        }
    }
}
