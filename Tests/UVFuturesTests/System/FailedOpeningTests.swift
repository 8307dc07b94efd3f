import Foundation
import Glibc
import Testing
import UVFutures

/// What cannot be opened leaves nothing behind. In a process of its own, where nobody else opens anything.
struct FailedOpeningTests: UsesUnixSockets {
    @Test("what could not be opened leaves no descriptor, no handle and no file")
    func leavesNothing() async {
        await #expect(processExitsWith: .success) {
            try Self().withDirectory(leaving: ["file"]) { directory, loop in
                let tcp = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let udp = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                let unix = try UnixListener(path: directory + "/unix", on: loop)
                let datagrams = try UnixDatagramSocket.bind(path: directory + "/datagrams", on: loop)
                try Data().write(to: URL(filePath: directory + "/file"))
                let (port, away) = (tcp.localAddress.port, try SocketAddress(host: "192.0.2.1", port: 0))
                let none = directory + "/none"
                let ways: [(String, () throws -> Future<Void>)] = [
                    (
                        "listen EADDRINUSE",
                        { try TCPListener(host: "127.0.0.1", port: port, on: loop).close() }
                    ),
                    (
                        "listen EADDRNOTAVAIL",
                        { try TCPListener(host: "192.0.2.1", port: 0, on: loop).close() }
                    ),
                    (
                        "bind EADDRINUSE",
                        {
                            try UDPSocket.bind(host: "127.0.0.1", port: udp.localAddress.port, on: loop)
                                .close()
                        }
                    ),
                    (
                        "bind EADDRNOTAVAIL",
                        { try UDPSocket.connect(to: udp.localAddress, from: away, on: loop).close() }
                    ),
                    (
                        "bind EADDRNOTAVAIL",
                        {
                            TCPConnection.connect(
                                host: "127.0.0.1", port: port, localHost: "192.0.2.1", on: loop
                            ).map { $0.abort() }
                        }
                    ),
                    ("connect ENOENT", { UnixConnection.connect(path: none, on: loop).map { $0.abort() } }),
                    (
                        "connect EPROTOTYPE",
                        {
                            UnixConnection.connect(path: directory + "/datagrams", on: loop)
                                .map { $0.abort() }
                        }
                    ),
                    ("EADDRINUSE", { try UnixListener(path: directory + "/unix", on: loop).close() }),
                    ("EADDRINUSE", { try UnixListener(path: directory + "/datagrams", on: loop).close() }),
                    ("not a socket", { try UnixListener(path: directory + "/file", on: loop).close() }),
                    ("ENOENT", { try UnixListener(path: none + "/none", on: loop).close() }),
                    (
                        "EADDRINUSE",
                        { try UnixDatagramSocket.bind(path: directory + "/datagrams", on: loop).close() }
                    ),
                    (
                        "connect ENOENT",
                        {
                            try UnixDatagramSocket.connect(
                                path: none, from: directory + "/new", on: loop
                            ).close()
                        }
                    ),
                ]
                let handles = loop.statistics.handles
                var before: Set<CInt> = []
                for isFirst in [true, false] {
                    for (text, make) in ways {
                        let failure = loop.failure(of: loop.succeeded().flatMap { try make() })
                        let said = failure.map { "\($0)" } ?? "none"
                        #expect(said.contains(text), "\(said)")
                    }
                    try loop.run(for: .milliseconds(1))
                    #expect(loop.statistics.handles == handles, "\(loop.dump())")
                    // What the first round leaves may be there for good, but no more of it.
                    if isFirst { before = descriptorsInUse() } else { expectNoMore(than: before) }
                }
                // What was there before is what it was.
                let received = datagrams.receive()
                datagrams.send("self", to: datagrams.localAddress)
                #expect(try loop.run(until: received).bytes == Data("self".utf8))
                let accepted = unix.accept()
                let client = try loop.run(until: UnixConnection.connect(path: directory + "/unix", on: loop))
                loop.closeAll(client, try loop.run(until: accepted))
                let closes = [tcp.close(), unix.close(), udp.close(), datagrams.close()]
                for close in closes { try loop.run(until: close) }
            }
        }
    }
}
