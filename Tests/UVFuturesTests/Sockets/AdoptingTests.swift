import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UVFutures

struct AdoptingTests {
    @Test("a socket that somebody else made listen is served, and given back as it is")
    func listens() throws {
        try withLoop { loop in
            let made = PlainSocket.bound(backlog: 16)
            let descriptor = dup(made.descriptor)
            let server = TCPServer(on: loop, echo)
            let address = try server.listen(adopting: descriptor)
            #expect(address.description == "127.0.0.1:\(made.port)")
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            let client = try loop.connect(to: address)
            client.write("a")
            #expect(try loop.run(until: client.read()) == Data("a".utf8))

            #expect(server.releaseSockets() == [descriptor])
            #expect(server.releaseSockets().isEmpty)
            try loop.run(until: server.close())
            // It listens on: who connects now waits, for whoever has it next.
            let waiting = PlainSocket.connected(to: made.port)
            #expect(waiting.send([7]))
            client.write("b")
            #expect(try loop.run(until: client.read()) == Data("b".utf8))
            let listener = try TCPListener(adopting: descriptor, on: loop)
            let accepted = try loop.run(until: listener.accept())
            #expect(try loop.run(until: accepted.read()) == Data([7]))
            let pending = listener.accept()
            #expect(try listener.release() == descriptor)
            #expect(loop.failure(of: pending) is CancellationError)
            #expect(throws: StreamError.connectionClosed) { try listener.release() }
            #expect(Glibc.close(descriptor) == 0)
            accepted.abort()
            loop.closeAll(client)
        }
    }

    @Test("what cannot be listened on is refused by what it is, and stays the caller's")
    func refusals() throws {
        try withLoop { loop in
            let bound = PlainSocket.bound()
            let (stream, datagram) = (CInt(SOCK_STREAM.rawValue), CInt(SOCK_DGRAM.rawValue))
            let cases: [(CInt, String)] = [
                (unsafe open("/dev/null", O_RDONLY), "is not a socket; give one that listens"),
                (
                    socket(AF_INET, datagram, 0),
                    "is a socket for messages, not a stream socket; give one of type SOCK_STREAM"
                ),
                (socket(AF_INET, stream, 0), "is a socket that does not listen; call listen() on it before"),
                (dup(bound.descriptor), "is a socket that does not listen; call listen() on it before"),
            ]
            for (descriptor, sentence) in cases {
                let refusal = FutureError.invalidArgument("descriptor \(descriptor) \(sentence)")
                #expect(throws: refusal) { try TCPListener(adopting: descriptor, on: loop) }
                let server = TCPServer(on: loop, echo)
                #expect(throws: refusal) { try server.listen(adopting: descriptor) }
                let named = ActivatedSocket(descriptor: descriptor, name: "http")
                #expect(
                    throws: FutureError.invalidArgument(
                        "socket \"http\" of systemd (descriptor \(descriptor)) \(sentence)")
                ) {
                    try server.listen(on: named)
                }
                #expect(Glibc.close(descriptor) == 0, "it was closed, though refused")
            }
            withExtendedLifetime(bound) {}
            #expect(
                throws: FutureError.invalidArgument(
                    "descriptor 1000000 is not open; give the descriptor of a socket that listens")
            ) {
                try TCPListener(adopting: 1_000_000, on: loop)
            }
        }
    }

    @Test("a socket that listens, but is of the other kind, is refused by what it is")
    func otherKind() throws {
        try withLoop { loop in
            let name = "@uv-other-\(getpid())"
            let unix = try UnixListener(path: name, on: loop).release()
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let (tcp, address) = (try listener.release(), listener.localAddress)
            let advice = ", which this server or listener does not accept"
            let (isUnix, isTCP) = (
                "is a socket of the UNIX domain (unix:\(name))" + advice,
                "is a socket of TCP (\(address))" + advice
            )
            let socket = ActivatedSocket(descriptor: unix, name: "http")
            #expect(throws: FutureError.invalidArgument("\(socket) \(isUnix)")) {
                try TCPServer(on: loop, echo).listen(on: socket)
            }
            #expect(throws: FutureError.invalidArgument("descriptor \(unix) \(isUnix)")) {
                try TCPListener(adopting: unix, on: loop)
            }
            let other = ActivatedSocket(descriptor: tcp, name: "echo")
            #expect(throws: FutureError.invalidArgument("\(other) \(isTCP)")) {
                try UnixServer(on: loop, owning: { _ in }).listen(on: other)
            }
            // Still the caller's: a server of both kinds takes both.
            let server = SocketServer<SocketConnection>(on: loop, owning: { _ in })
            for socket in [socket, other] { try server.listen(on: socket) }
            #expect(server.localAddresses.map(\.description) == ["unix:\(name)", "\(address)"])
            try loop.run(until: server.close())
        }
    }

    @Test("a socket that ceases to listen is closed and reported, once, and costs nothing")
    func ceases() throws {
        try withLoop { loop in
            let made = PlainSocket.bound(backlog: 16)
            let server = TCPServer(on: loop, echo)
            try server.listen(adopting: dup(made.descriptor))
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let listener = try TCPListener(adopting: dup(made.descriptor), on: loop)
            let accepts = [listener.accept(), listener.accept()]
            let iterations = try [false, true].map { byActor in
                try TCPListener(adopting: dup(made.descriptor), on: loop).connections.iterate(
                    byActor: byActor)
            }
            try loop.run(until: loop.submit {})
            made.shutdown()
            for iteration in iterations {
                #expect((loop.failure(of: iteration) as? SystemError)?.code == .invalidArgument)
            }
            try loop.runUntil { !reported.isEmpty }
            #expect((loop.failure(of: accepts[0]) as? SystemError)?.code == .invalidArgument)
            #expect(loop.failure(of: accepts[1]) is CancellationError)
            try loop.run(for: .milliseconds(10))
            #expect(reported.count == 1 && server.statistics.shed == 1)
            #expect("\(reported[0])".hasPrefix("accept EINVAL 127.0.0.1:\(listener.localAddress.port): "))
            // Nothing of them keeps the loop.
            try loop.run()
            #expect(loop.statistics.handles == 0)
            try loop.run(until: server.close())
        }
    }

    @Test("a socket that ceases to listen while nobody wants connections is closed and reported as well")
    func ceasesUnwatched() throws {
        try withLoop { loop in
            let made = PlainSocket.bound(backlog: 16)
            let server = TCPServer(on: loop, echo)
            try server.setAcceptLimits(AcceptLimits(maxConnections: 1))
            let address = try server.listen(adopting: dup(made.descriptor))
            var reported: [any Error] = []
            server.onConnectionError = { reported.append($0) }
            let client = try loop.connect(to: address)
            try loop.runUntil { server.statistics.pauses == 1 }
            let listener = try TCPListener(adopting: dup(made.descriptor), on: loop)
            made.shutdown()
            // The server's connection and the client's.
            try loop.runUntil { !reported.isEmpty && loop.statistics.handles == 2 }
            #expect("\(reported[0])".hasPrefix("accept EINVAL \(address): "))
            #expect(loop.failure(of: listener.accept()) is CancellationError)
            loop.closeAll(client)
            try loop.run()
            #expect(reported.count == 1 && loop.statistics.handles == 0)
            try loop.run(until: server.close())
        }
    }

    @Test("a connection is given up without being ended, and taken over again")
    func connections() throws {
        try withLoop { loop in
            let (client, first) = try loop.connectedPair()
            let pending = first.read()
            #expect(throws: FutureError.self) { try first.release() }
            pending.cancel()
            client.write("abc")
            #expect(try loop.run(until: first.read(exactly: 1)) == Data("a".utf8))
            #expect(
                throws: FutureError.invalidArgument(
                    "2 bytes that have arrived have not been read; read them first")
            ) {
                try first.release()
            }
            #expect(try loop.run(until: first.read()) == Data("bc".utf8))
            let descriptor = try first.release()
            try loop.run(until: first.closed)
            #expect(throws: StreamError.connectionClosed) { try first.release() }

            let second = try TCPConnection(adopting: descriptor, on: loop)
            #expect(second.peerAddress == client.localAddress)
            #expect(second.localAddress == client.peerAddress)
            second.write("still here")
            client.write("too")
            #expect(try loop.run(until: client.read()) == Data("still here".utf8))
            #expect(try loop.run(until: second.read()) == Data("too".utf8))
            var (open, closed) = (stat(), stat())
            #expect(unsafe fstat(descriptor, &open) == 0)
            loop.closeAll(client, second)
            // Another test may have got the number.
            #expect(unsafe fstat(descriptor, &closed) != 0 || closed.st_ino != open.st_ino)
        }
    }

    @Test(
        "a connection that is given up leaves what waits in the system, and its own end, to whoever takes it over"
    )
    func waitingBytes() throws {
        try withLoop { loop in
            let (client, first) = try loop.connectedPair()
            client.write("early")
            let descriptor = try first.release()
            #expect(loop.failure(of: first.read()) as? StreamError == .connectionClosed)
            try loop.run(until: first.closed)

            let second = try TCPConnection(adopting: descriptor, on: loop)
            #expect(try loop.run(until: second.read()) == Data("early".utf8))
            second.write("still here")
            #expect(try loop.run(until: client.read()) == Data("still here".utf8))
            loop.closeAll(client, second)
        }
    }

    @Test("what is no connected TCP socket is refused as a connection")
    func refusedConnections() throws {
        try withLoop { loop in
            let bound = PlainSocket.bound()
            let cases: [(CInt, String)] = [
                (unsafe open("/dev/null", O_RDONLY), "is not a TCP socket; give one that is connected"),
                (dup(bound.descriptor), "is a socket that is not connected; connect it before"),
            ]
            for (descriptor, sentence) in cases {
                #expect(throws: FutureError.invalidArgument("descriptor \(descriptor) \(sentence)")) {
                    try TCPConnection(adopting: descriptor, on: loop)
                }
                #expect(Glibc.close(descriptor) == 0)
            }
            withExtendedLifetime(bound) {}
            #expect(
                throws: FutureError.invalidArgument(
                    "descriptor -1 is not open; give the descriptor of a connected TCP socket")
            ) {
                try TCPConnection(adopting: -1, on: loop)
            }
        }
    }
}
