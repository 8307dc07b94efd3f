import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// A descriptor that was handed over has one owner, whatever others do with its number.
struct AdoptedDescriptorsTests {
    enum Kind: String, CaseIterable, Codable, CustomTestStringConvertible {
        case tcp, unix, tcpListener, unixListener, server, udp, unixDatagrams, stream

        var testDescription: String { rawValue }

        static let streams = [tcp, unix]

        /// A descriptor of that kind, and something that keeps its other end open.
        func make(on loop: EventLoop) throws -> (descriptor: CInt, other: CInt) {
            switch self {
            case .unix, .stream: return try socketPair()
            case .unixDatagrams: return try socketPair(SOCK_DGRAM)
            case .udp:
                let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                return (try socket.release(), -1)
            case .tcpListener, .server:
                return (try TCPListener(host: "127.0.0.1", port: 0, on: loop).release(), -1)
            case .unixListener:
                let name = "@adopted.\(getpid()).\(UInt64.random(in: 0 ... .max))"
                return (try UnixListener(path: name, on: loop).release(), -1)
            case .tcp:
                let (client, server) = try loop.connectedPair()
                return (try client.release(), try server.release())
            }
        }

        /// Adopts it, and returns how to end that.
        func adopt(_ descriptor: CInt, on loop: EventLoop) throws -> () -> Void {
            switch self {
            case .tcp:
                let connection = try TCPConnection(adopting: descriptor, on: loop)
                return { connection.abort() }
            case .unix:
                let connection = try UnixConnection(adopting: descriptor, on: loop)
                return { connection.abort() }
            case .tcpListener:
                let listener = try TCPListener(adopting: descriptor, on: loop)
                return { listener.close() }
            case .unixListener:
                let listener = try UnixListener(adopting: descriptor, on: loop)
                return { listener.close() }
            case .server:
                let server = TCPServer(on: loop) { $0.closed }
                try server.listen(adopting: descriptor)
                return { server.close() }
            case .udp:
                let socket = try UDPSocket(adopting: descriptor, on: loop)
                return { socket.close() }
            case .unixDatagrams:
                let socket = try UnixDatagramSocket(adopting: descriptor, on: loop)
                return { socket.close() }
            case .stream:
                let stream = try DescriptorStream(adopting: descriptor, on: loop)
                return { stream.abort() }
            }
        }

        /// The kinds that could adopt what this kind makes.
        var rivals: [Kind] {
            switch self {
            case .tcp: [.tcp, .stream]
            case .unix, .stream: [.unix, .stream]
            case .tcpListener, .server: [.tcpListener, .server]
            case .unixListener, .udp, .unixDatagrams: [self]
            }
        }
    }

    /// What the owner of a descriptor says of it.
    private static func refusal(_ descriptor: CInt) -> String {
        "descriptor \(descriptor) belongs to a connection or a listener already; use that, or release() it first"
    }

    @Test(
        "what has an owner is adopted and watched by nobody else, on its loop and on another one",
        arguments: Kind.allCases.filter { $0 != .stream })
    func twice(kind: Kind) throws {
        try withLoop { loop in
            try withLoop { other in
                let (descriptor, peer) = try kind.make(on: loop)
                let end = try kind.adopt(descriptor, on: loop)
                for again in [loop, other] {
                    for rival in Kind.allCases {
                        let text = complaint { _ = try rival.adopt(descriptor, on: again) }
                        #expect(text != nil, "\(rival)")
                        guard kind.rivals.contains(rival) else { continue }
                        #expect(text == Self.refusal(descriptor), "\(rival)")
                    }
                    #expect(
                        complaint { _ = try again.watch(descriptor: descriptor) } == Self.refusal(descriptor))
                }
                #expect(fcntl(descriptor, F_GETFD) >= 0)
                end()
                try loop.run()
                if peer >= 0 { close(peer) }
            }
        }
    }

    @Test("what is watched is adopted by nobody, until the watch has been closed", arguments: Kind.allCases)
    func watched(kind: Kind) throws {
        try withLoop { loop in
            let (descriptor, peer) = try kind.make(on: loop)
            let watch = try loop.watch(descriptor: descriptor)
            for isWaiting in [false, true] {
                let wait = isWaiting ? watch.next(.disconnected) : nil
                for rival in kind.rivals {
                    #expect(
                        complaint { _ = try rival.adopt(descriptor, on: loop) }
                            == "descriptor \(descriptor) is watched; close the watch first")
                }
                wait?.cancel()
            }
            try loop.run(until: watch.close())
            let end = try kind.adopt(descriptor, on: loop)
            end()
            try loop.run()
            if peer >= 0 { close(peer) }
        }
    }

    @Test("what a connection has that this library made is nobody else's either")
    func made() throws {
        try withLoop { loop in
            let (client, server) = try loop.connectedPair()
            let descriptor = (3..<16_384).first { descriptor in
                client.localAddress.map { "\($0)" } == localName(of: descriptor)
            }
            for rival in Kind.tcp.rivals {
                #expect(
                    complaint { _ = try rival.adopt(descriptor!, on: loop) } == Self.refusal(descriptor!))
            }
            #expect(complaint { _ = try loop.watch(descriptor: descriptor!) } == Self.refusal(descriptor!))
            client.write("still")
            #expect(try loop.run(until: server.read()) == Data("still".utf8))
            loop.closeAll(client, server)
        }
    }

    @Test("what was released can be adopted again", arguments: [true, false])
    func released(onSameLoop: Bool) throws {
        try withLoop { loop in
            try withLoop { other in
                let (client, server) = try loop.connectedPair()
                let descriptor = try server.release()
                let first = try TCPConnection(adopting: descriptor, on: loop)
                let released = try first.release()
                try loop.run()
                let second = try TCPConnection(adopting: released, on: onSameLoop ? loop : other)
                client.write("hello")
                #expect(try second.loop.run(until: second.read()) == Data("hello".utf8))
                _ = second.loop.outcome(of: second.abort())
                _ = loop.outcome(of: client.abort())
            }
        }
    }

    enum Use: String, CaseIterable, Codable {
        case read, readAgain, write, shutdown, close, abort
    }

    @Test(
        "closed behind a stream's back, a descriptor fails what needs it, and what has its number then stays open",
        arguments: Kind.streams, Use.allCases)
    func closedBehind(kind: Kind, use: Use) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [kind, use] in
            // What is written at once goes to whatever has the number.
            for isReplaced in use == .write ? [false] : [false, true] {
                try withLoop(ignoringUnhandled: true) { loop in
                    var reported: [String] = []
                    loop.onUnhandledFailure = { reported.append("\($0)") }
                    let (made, other) = try kind.make(on: loop)
                    // So high a number no other thread gets when it is free.
                    let descriptor = fcntl(made, F_DUPFD_CLOEXEC, 900)
                    close(made)
                    let stream: ByteStream =
                        kind == .tcp
                        ? try TCPConnection(adopting: descriptor, on: loop)
                        : try UnixConnection(adopting: descriptor, on: loop)
                    if use == .readAgain {
                        let read = stream.read()
                        try loop.run(for: .milliseconds(1))
                        read.cancel()
                    }
                    var pipe: [CInt] = [-1, -1]
                    precondition(unsafe uv_pipe(&pipe, 0, 0) == 0)
                    if isReplaced { dup2(pipe[1], descriptor) } else { close(descriptor) }
                    let failure: (any Error)? =
                        switch use {
                        case .read: loop.failure(of: stream.read())
                        case .readAgain, .abort, .close: nil
                        case .write: loop.failure(of: stream.write(Data(count: 1 << 24)))
                        case .shutdown: loop.failure(of: stream.shutdownWrite())
                        }
                    if [.read, .write, .shutdown].contains(use) {
                        precondition(
                            (failure as? SystemError)?.code == .badDescriptor,
                            "\(String(describing: failure))")
                    }
                    _ = loop.outcome(of: use == .close ? stream.close() : stream.abort())
                    try loop.run(until: loop.submit(on: .nextTurn) {})
                    precondition(
                        reported.contains { $0.contains("was closed while it belonged to this") },
                        "\(reported)")
                    if isReplaced {
                        var byte: UInt8 = 7
                        precondition(unsafe write(descriptor, &byte, 1) == 1, "it is closed")
                        close(descriptor)
                    }
                    for end in pipe + [other] { close(end) }
                }
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed == "", "\(printed)")
    }

    @Test(
        "a listener that was closed behind its back ends, and closes nothing else",
        arguments: [Kind.tcpListener, .server])
    func listenerClosedBehind(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            try withLoop(ignoringUnhandled: true) { loop in
                let (descriptor, _) = try kind.make(on: loop)
                let end = try kind.adopt(descriptor, on: loop)
                try loop.run(for: .milliseconds(1))
                var pipe: [CInt] = [-1, -1]
                precondition(unsafe uv_pipe(&pipe, 0, 0) == 0)
                dup2(pipe[1], descriptor)
                let before = descriptorsInUse()
                end()
                try loop.run()
                var byte: UInt8 = 7
                precondition(unsafe write(descriptor, &byte, 1) == 1, "it is closed")
                expectNoMore(than: before)
            }
        }
    }
}

extension AdoptedDescriptorsTests {
    @Test(
        "who asks something of a listener or a socket that was closed behind its back is told",
        arguments: [Kind.tcpListener, .udp])
    func askedLater(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            alarm(20)
            try withLoop(ignoringUnhandled: true) { loop in
                let (made, _) = try kind.make(on: loop)
                // So high a number no other thread gets when it is free.
                let descriptor = fcntl(made, F_DUPFD_CLOEXEC, 900)
                close(made)
                if kind == .udp {
                    let socket = try UDPSocket(adopting: descriptor, on: loop)
                    try loop.run(for: .milliseconds(1))
                    close(descriptor)
                    let error = loop.failure(of: socket.send("x", to: socket.localAddress)) as? SystemError
                    #expect(error?.code == .badDescriptor && error?.operation == "send")
                    socket.close()
                } else {
                    let listener = try TCPListener(adopting: descriptor, on: loop)
                    try loop.run(for: .milliseconds(1))
                    close(descriptor)
                    let error = loop.failure(of: listener.accept()) as? SystemError
                    #expect(error?.code == .invalidArgument && error?.operation == "accept")
                    listener.close()
                }
                try loop.run()
            }
        }
    }
}

private func socketPair(_ type: __socket_type = SOCK_STREAM) throws -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let types = CInt(type.rawValue | SOCK_CLOEXEC.rawValue)
    #expect(unsafe socketpair(AF_UNIX, types, 0, &ends) == 0)
    return (ends[0], ends[1])
}

/// The address of this end of a TCP socket, in words.
private func localName(of descriptor: CInt) -> String? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe getsockname(descriptor, $0, &length)
        }
    }
    guard status == 0, CInt(address.sin_family) == AF_INET else { return nil }
    return "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
}
