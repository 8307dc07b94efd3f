import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct UnixDatagramSocketTests: UsesUnixSockets {
    @Test("datagrams go to a path, and answers to a name", arguments: TestNetwork.allCases)
    func answers(network: TestNetwork) throws {
        try withDirectory(network, leaving: network == .system ? [] : []) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/server", on: loop)
            let client = try UnixDatagramSocket.connect(
                path: directory + "/server", from: "@uvfutures-\(getpid())-\(network)", on: loop)
            let echo = server.forEachDatagram { bytes, header in server.send(bytes, to: header.source) }
            client.send("hello")
            let answer = try loop.run(until: client.receive())
            #expect(answer.bytes == Data("hello".utf8))
            #expect(answer.source?.path == directory + "/server")
            try loop.run(until: client.close().and(server.close()).map { _ in })
            _ = loop.outcome(of: echo)
        }
    }

    @Test("a client without a name has no address to answer to", arguments: TestNetwork.allCases)
    func unnamed(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/log", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/log", on: loop)
            client.send("<13>hello")
            let datagram = try loop.run(until: server.receive())
            #expect(datagram.source == nil)
            #expect("\(client)" == "UnixDatagramSocket (unix:unnamed – unix:\(directory)/log)")
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("a send that fails takes none of the datagrams that wait", arguments: TestNetwork.allCases)
    func failingSend(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/server", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/server", on: loop)
            for text in ["1", "2"] { try loop.run(until: client.send(text)) }
            let nobody = try SocketAddress(path: directory + "/nobody")
            #expect(loop.failure(of: server.send("x", to: nobody)) is SystemError)
            for text in ["1", "2"] {
                #expect(
                    try loop.run(until: server.receive().timeout(after: .seconds(10))).bytes
                        == Data(text.utf8))
            }
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("a connected socket waits for a slow reader, and loses nothing", arguments: TestNetwork.allCases)
    func backPressure(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/slow", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/slow", on: loop)
            let sends = (0..<500).map { client.send("\($0)") }
            try loop.run(for: .milliseconds(5))
            #expect(sends[0].isCompleted && !sends[499].isCompleted)
            #expect(client.bufferedBytes > 0)
            var numbers: [String] = []
            let received = server.forEachDatagram { bytes, _ in
                numbers.append(String(decoding: Data(copying: bytes), as: UTF8.self))
            }
            _ = try loop.run(until: Future.all(sends))
            try loop.runUntil { numbers.count == 500 }
            #expect(numbers == (0..<500).map { "\($0)" })
            try loop.run(until: client.close().and(server.close()).map { _ in })
            _ = loop.outcome(of: received)
        }
    }

    @Test("a socket of many peers is told that a peer's queue is full", arguments: TestNetwork.allCases)
    func fullQueue(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let full = try UnixDatagramSocket.bind(path: directory + "/full", on: loop)
            let other = try UnixDatagramSocket.bind(path: directory + "/other", on: loop)
            let client = try UnixDatagramSocket.bind(path: directory + "/client", on: loop)
            // More than any system lets wait.
            let sends = (0..<2000).map { _ in client.send("x", to: full.localAddress) }
            let results = sends.map { loop.outcome(of: $0) }
            #expect(results[0].isSuccess)
            #expect(
                results[1999].failureText
                    == "send EAGAIN unix:\(directory)/full: resource temporarily unavailable")
            // One that does not read holds up nobody else.
            let received = other.receive()
            try loop.run(until: client.send("y", to: other.localAddress))
            #expect(try loop.run(until: received).bytes == Data("y".utf8))
            _ = try loop.run(until: Future.all([full.close(), other.close(), client.close()]))
        }
    }

    @Test("a socket with a peer takes nothing from others", arguments: TestNetwork.allCases)
    func othersPeer(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/server", on: loop)
            let client = try UnixDatagramSocket.connect(
                path: directory + "/server", from: directory + "/client", on: loop)
            let other = try UnixDatagramSocket.bind(path: directory + "/other", on: loop)
            #expect(
                complaint { _ = try UnixDatagramSocket.connect(path: directory + "/client", on: loop) }
                    == "connect EPERM unix:\(directory)/client: operation not permitted")
            let refused = loop.failure(of: other.send("x", to: client.localAddress)) as? SystemError
            #expect(refused?.code == .notPermitted)
            try loop.run(until: server.send("y", to: client.localAddress))
            #expect(try loop.run(until: client.receive()).bytes == Data("y".utf8))
            _ = try loop.run(until: Future.all([server.close(), client.close(), other.close()]))
        }
    }

    @Test("a socket that waits for a peer is told when that is closed", arguments: TestNetwork.allCases)
    func closedPeer(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/slow", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/slow", on: loop)
            let sends = (0..<500).map { client.send("\($0)") }
            try loop.run(for: .milliseconds(5))
            #expect(sends[0].isCompleted && !sends[499].isCompleted)
            try loop.run(until: server.close())
            let failures = sends.compactMap { loop.failure(of: $0) as? SystemError }
            #expect(failures.first?.code == .connectionRefused && failures.last?.code == .notConnected)
            try loop.run(until: client.close())
        }
    }

    @Test(
        "what a peer has sent is lost when it has gone and the next datagram is for it",
        arguments: TestNetwork.allCases)
    func goneWithItsDatagrams(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/server", on: loop)
            let client = try UnixDatagramSocket.connect(
                path: directory + "/server", from: directory + "/client", on: loop)
            for text in ["1", "2"] { try loop.run(until: server.send(text, to: client.localAddress)) }
            try loop.run(until: server.close())
            #expect((loop.failure(of: client.send("x")) as? SystemError)?.code == .connectionRefused)
            let rest = client.receive()
            try loop.run(for: .milliseconds(5))
            #expect(rest.result == nil)
            try loop.run(until: client.close())
            rest.ignoreFailure()
        }
    }

    @Test("nothing at a path, and a peer that has gone", arguments: TestNetwork.allCases)
    func missing(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/none"
            #expect(
                complaint { _ = try UnixDatagramSocket.connect(path: path, on: loop) }
                    == "connect ENOENT unix:\(path): no such file or directory")
            let server = try UnixDatagramSocket.bind(path: path, on: loop)
            let client = try UnixDatagramSocket.connect(path: path, on: loop)
            #expect(
                complaint { _ = try UnixDatagramSocket.bind(path: path, on: loop) }
                    == "bind EADDRINUSE unix:\(path): address already in use")
            try loop.run(until: server.close())
            let error = loop.failure(of: client.send("x")) as? SystemError
            #expect(error?.code == .connectionRefused)
            try loop.run(until: client.close())
        }
    }

    @Test("a socket that a process has left is replaced, and a file is not")
    func files() throws {
        try withDirectory(leaving: ["file"]) { directory, loop in
            let left = directory + "/left"
            let address = try SocketAddress(path: left)
            let old = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            let status = bindPath(old, left)
            #expect(status == 0)
            #expect(throws: SystemError.self) { try UnixDatagramSocket.bind(path: left, on: loop) }
            Glibc.close(old)
            let socket = try UnixDatagramSocket.bind(path: left, permissions: 0o600, on: loop)
            #expect(socket.localAddress == address)
            var information = stat()
            #expect(unsafe stat(left, &information) == 0 && information.st_mode & 0o777 == 0o600)
            try loop.run(until: socket.close())

            let file = directory + "/file"
            try Data().write(to: URL(filePath: file))
            #expect(
                complaint { _ = try UnixDatagramSocket.bind(path: file, on: loop) }
                    == "cannot bind at \(file): there is a file that is not a socket; remove it or give another path"
            )
        }
    }

    @Test("a datagram that is longer than 64 KiB is told to be cut", arguments: TestNetwork.allCases)
    func long(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = try UnixDatagramSocket.bind(path: directory + "/long", on: loop)
            let client = try UnixDatagramSocket.connect(path: directory + "/long", on: loop)
            try loop.run(until: client.send(Data(repeating: 1, count: 100_000)))
            let datagram = try loop.run(until: server.receive())
            #expect(datagram.bytes.count == 65_536 && datagram.isTruncated)
            try loop.run(until: client.send(Data(repeating: 1, count: 65_536)))
            #expect(try !loop.run(until: server.receive()).isTruncated)
            #expect(
                "\(loop.failure(of: client.send(Data(count: 212_961)))!)"
                    == "a datagram of 212961 bytes cannot be sent: the limit is 212960; send it in parts"
            )
            try loop.run(until: client.close().and(server.close()).map { _ in })
        }
    }

    @Test("bad arguments have a sentence each", arguments: TestNetwork.allCases)
    func badArguments(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let socket = try UnixDatagramSocket.bind(path: directory + "/socket", on: loop)
            let address = try SocketAddress(host: "127.0.0.1", port: 7)
            #expect(
                "\(loop.failure(of: socket.send("x", to: address))!)"
                    == "\(socket) cannot send to 127.0.0.1:7, which is not a path in the UNIX domain")
            #expect(
                "\(loop.failure(of: socket.send("x", to: socket.localAddress, from: address))!)"
                    == "\(socket) sends from its own path alone, not from 127.0.0.1:7; leave out the "
                    + "argument from:")
            #expect(
                complaint { _ = try UnixDatagramSocket.bind(path: "@x", permissions: 0o600, on: loop) }
                    == "the abstract name @x can have no permissions: everybody can connect; leave them "
                    + "out, and check peerCredentials")
            #expect(
                complaint { _ = try UnixDatagramSocket.bind(path: "", on: loop) }
                    == "a socket path of \"\" is empty; give a path, or @ followed by a name")
            try loop.run(until: socket.close())
        }
    }
}

private func bindPath(_ descriptor: CInt, _ path: String) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    return unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
