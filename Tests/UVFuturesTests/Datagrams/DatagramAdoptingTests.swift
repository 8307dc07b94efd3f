import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct DatagramAdoptingTests {
    @Test("a socket of other code is taken over, and given back")
    func adopting() throws {
        try withLoop { loop in
            let descriptor = plain(AF_INET, SOCK_DGRAM)
            _ = try bound(descriptor)
            let socket = try UDPSocket(adopting: descriptor, on: loop)
            let port = socket.localAddress.port
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            let sender = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let target = try SocketAddress(host: "127.0.0.1", port: port)
            sender.send("one", to: target)
            #expect(try loop.run(until: socket.receive()).bytes == Data("one".utf8))
            let waiting = socket.receive()
            let last = socket.send("last words", to: sender.localAddress)
            #expect(try socket.release() == descriptor)
            #expect(loop.outcome(of: last).isSuccess)
            #expect(try loop.run(until: sender.receive()).bytes == Data("last words".utf8))
            #expect(loop.outcome(of: waiting).isCancellation)
            #expect(complaint { _ = try socket.release() } == "\(DatagramError.socketClosed)")
            try loop.run(until: sender.send("two", to: target))
            var bytes = [UInt8](repeating: 0, count: 10)
            #expect(unsafe recv(descriptor, &bytes, 10, 0) == 3)
            close(descriptor)
            try loop.run(until: sender.close())
        }
    }

    @Test("a pair of UNIX sockets is taken over")
    func pair() throws {
        try withLoop { loop in
            var pair: [CInt] = [0, 0]
            #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &pair) == 0)
            let sockets = try pair.map { try UnixDatagramSocket(adopting: $0, on: loop) }
            let received = sockets[1].receive()
            try loop.run(until: sockets[0].send("hello"))
            #expect(try loop.run(until: received).bytes == Data("hello".utf8))
            _ = try loop.run(until: Future.all(sockets.map { $0.close() }))
        }
    }

    @Test("a UNIX socket of systemd is taken over")
    func unixOfSystemd() throws {
        try withLoop { loop in
            var pair: [CInt] = [0, 0]
            #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &pair) == 0)
            let activated = ActivatedSocket(descriptor: pair[0], name: "syslog")
            let socket = try UnixDatagramSocket(adopting: activated, on: loop)
            #expect(unsafe write(pair[1], "hello", 5) == 5)
            #expect(try loop.run(until: socket.receive()).bytes == Data("hello".utf8))
            try loop.run(until: socket.close())
            close(pair[1])
            #expect(
                complaint { _ = try UnixDatagramSocket(adopting: activated, on: loop) }
                    == "socket \"syslog\" of systemd (descriptor \(pair[0])) is not open; give the descriptor of a socket for "
                    + "datagrams")
        }
    }

    @Test("a socket of systemd is taken over")
    func systemd() throws {
        try withLoop { loop in
            let descriptor = plain(AF_INET, SOCK_DGRAM)
            _ = try bound(descriptor)
            let activated = ActivatedSocket(descriptor: descriptor, name: "syslog")
            let socket = try UDPSocket(adopting: activated, on: loop)
            #expect(socket.localAddress.port > 0)
            try loop.run(until: socket.close())
            #expect(
                complaint {
                    _ = try UDPSocket(adopting: ActivatedSocket(descriptor: 9999, name: "syslog"), on: loop)
                }
                    == "socket \"syslog\" of systemd (descriptor 9999) is not open; give the descriptor "
                    + "of a socket for datagrams"
            )
        }
    }

    @Test("what is no such socket is refused, and stays the caller's")
    func refusals() throws {
        try withLoop { loop in
            let stream = plain(AF_INET, SOCK_STREAM)
            let unix = plain(AF_UNIX, SOCK_DGRAM)
            let netlink = plain(AF_NETLINK, SOCK_DGRAM)
            let file = unsafe open("/dev/null", O_RDONLY)
            func complaint(_ descriptor: CInt) -> String? {
                UVFuturesTests.complaint { _ = try UDPSocket(adopting: descriptor, on: loop) }
            }
            #expect(
                complaint(stream)
                    == "descriptor \(stream) is a stream socket, not a datagram socket; give one of type SOCK_DGRAM"
            )
            for other in [unix, netlink] {
                #expect(
                    complaint(other)
                        == "descriptor \(other) is a socket of an address family that this kind of socket does not accept"
                )
            }
            #expect(complaint(file) == "descriptor \(file) is not a socket; give one for datagrams")
            #expect(
                complaint(9999)
                    == "descriptor 9999 is not open; give the descriptor of a socket for datagrams")
            for descriptor in [stream, unix, netlink, file] { #expect(Glibc.close(descriptor) == 0) }
            let taken = plain(AF_INET, SOCK_DGRAM)
            let socket = try UDPSocket(adopting: taken, on: loop)
            #expect(
                complaint(taken)
                    == "descriptor \(taken) belongs to a connection or a listener already; use that, or release() it "
                    + "first")
            try loop.run(until: socket.close())
        }
    }

    @Test("datagrams on a host's loop")
    func attached() throws {
        try withHost { host, loop in
            let server = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let client = try UDPSocket.connect(to: server.localAddress, on: loop)
            let echo = server.forEachDatagram { bytes, header in server.send(bytes, to: header.source) }
            for number in 0..<100 {
                client.send("\(number)")
                #expect(try host.run(until: client.receive()).bytes == Data("\(number)".utf8))
            }
            try host.run(until: client.close().and(server.close()).map { _ in })
            try host.run(until: echo)
        }
    }

    private func plain(_ family: CInt, _ type: __socket_type) -> CInt {
        socket(family, CInt(type.rawValue), 0)
    }

    private func bound(_ descriptor: CInt) throws -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
        return status
    }
}
