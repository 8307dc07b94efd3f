import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct MulticastTests {
    @Test(
        "a socket gets what is sent to the groups that it has joined, and nothing else",
        arguments: TestNetwork.allCases)
    func groups(network: TestNetwork) throws {
        try withGroup(network) { loop, member, other, sender in
            let group = try SocketAddress(host: "239.1.2.3", port: member.localAddress.port)
            try member.join("239.1.2.3", interface: "lo")
            var heard: [DatagramHeader] = []
            let received = member.forEachDatagram { _, header in heard.append(header) }
            let overheard = other.receive()
            try loop.run(until: sender.send("hello", to: group))
            try loop.runUntil { heard.count == 1 }
            #expect(heard[0].destination == group)
            #expect(heard[0].localAddress?.host == "127.0.0.1" && heard[0].source == sender.localAddress)
            try member.leave("239.1.2.3", interface: "lo")
            try loop.run(until: sender.send("again", to: group))
            try loop.run(for: .milliseconds(5))
            #expect(heard.count == 1)
            // It shares the port, and has joined nothing.
            #expect(!overheard.isCompleted)
            overheard.cancel()
            received.cancel()
        }
    }

    @Test("with a source, only what that source sends to the group", arguments: TestNetwork.allCases)
    func sources(network: TestNetwork) throws {
        try withGroup(network) { loop, member, _, sender in
            let group = try SocketAddress(host: "239.1.2.4", port: member.localAddress.port)
            try member.join("239.1.2.4", interface: "lo", source: "127.0.0.7")
            let received = member.receive()
            try loop.run(until: sender.send("from another", to: group))
            try loop.run(
                until: sender.send(
                    "from the source", to: group, from: SocketAddress(host: "127.0.0.7", port: 0)))
            #expect(try loop.run(until: received).bytes == Data("from the source".utf8))
        }
    }

    @Test("without loopback, nobody on this machine gets it", arguments: TestNetwork.allCases)
    func loopback(network: TestNetwork) throws {
        try withGroup(network) { loop, member, _, sender in
            let group = try SocketAddress(host: "239.1.2.5", port: member.localAddress.port)
            try member.join("239.1.2.5", interface: "lo")
            try sender.setMulticastLoopback(false)
            let received = member.receive()
            try loop.run(until: sender.send("unheard", to: group))
            try sender.setMulticastLoopback(true)
            try loop.run(until: sender.send("heard", to: group))
            // The loopback interface itself brings back what leaves by it.
            let first = try loop.run(until: received).bytes
            #expect(
                first == Data((network == .virtual ? "heard" : "unheard").utf8) || first == Data("heard".utf8)
            )
        }
    }

    @Test("bad arguments have a sentence each", arguments: TestNetwork.allCases)
    func badArguments(network: TestNetwork) throws {
        try withGroup(network) { loop, member, _, _ in
            #expect(
                complaint { try member.join("127.0.0.1") }
                    == "127.0.0.1 is not the address of a group; give one of 224.0.0.0/4 or ff00::/8")
            #expect(
                complaint { try member.join("ff02::1") }
                    == "\(member) cannot use ff02::1, which is of another family")
            #expect(
                complaint { try member.join("239.1.2.3", interface: "nothing0") }
                    == "there is no network interface \"nothing0\"; give the name or the number of one")
            for name in ["lo\0", "0"] {
                #expect(
                    complaint { try member.join("239.1.2.3", interface: name) }
                        == "there is no network interface \(name.debugDescription); give the name or the "
                        + "number of one")
            }
            // The loopback interface has the number 1 on each machine.
            try member.join("239.1.2.4", interface: "1")
            try member.leave("239.1.2.4", interface: "lo")
            #expect(
                complaint { try member.leave("239.1.2.3", interface: "lo") }
                    == "leave EADDRNOTAVAIL 239.1.2.3:0: address not available")
            try member.join("239.1.2.3", interface: "lo")
            #expect(
                complaint { try member.join("239.1.2.3", interface: "lo") }
                    == "join EADDRINUSE 239.1.2.3:0: address already in use")
            #expect(
                complaint { try member.setMulticastTimeToLive(256) }
                    == "a time to live of 256 is out of range; give 0 to 255")
            try member.setMulticastTimeToLive(0)
            try member.setTimeToLive(255)
            member.close()
            #expect(
                complaint { try member.join("239.1.2.3") }
                    == "join EBADF \(member.localAddress): bad file descriptor")
        }
    }

    @Test("each member gets what is sent to a group, however it is bound", arguments: TestNetwork.allCases)
    func bindings(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let special = try UDPSocket.bind(host: "239.1.2.6", port: 0, sharingPort: true, on: loop)
            let group = special.localAddress
            let general = try UDPSocket.bind(host: "0.0.0.0", port: group.port, sharingPort: true, on: loop)
            let sender = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            try sender.setMulticastInterface("lo")
            for member in [special, general] { try member.join("239.1.2.6", interface: "lo") }
            let received = [special.receive(), general.receive()]
            try loop.run(until: sender.send("hello", to: group))
            for datagram in received {
                #expect(try loop.run(until: datagram).bytes == Data("hello".utf8))
            }
            _ = try loop.run(until: Future.all([special.close(), general.close(), sender.close()]))
        }
    }

    @Test("broadcasts need a permission", arguments: TestNetwork.allCases)
    func broadcast(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let socket = try UDPSocket.bind(host: "0.0.0.0", port: 0, on: loop)
            let all = try SocketAddress(host: "255.255.255.255", port: socket.localAddress.port)
            let refused = loop.failure(of: socket.send("x", to: all)) as? SystemError
            // A machine without a network has no way for it.
            if refused?.code != .networkUnreachable {
                #expect(refused?.code == .permissionDenied)
                try socket.setBroadcast(true)
                if network == .virtual {
                    try loop.run(until: socket.send("x", to: all))
                    #expect(try loop.run(until: socket.receive()).header.destination == all)
                }
                try socket.setBroadcast(false)
                #expect(loop.failure(of: socket.send("x", to: all)) as? SystemError == refused)
            }
            try loop.run(until: socket.close())
        }
    }

    /// Runs `body` with two sockets that share a port of all addresses, and one that sends to groups.
    private func withGroup(
        _ network: TestNetwork, _ body: (EventLoop, UDPSocket, UDPSocket, UDPSocket) throws -> Void
    ) throws {
        try withLoop(network) { loop in
            let member = try UDPSocket.bind(host: "0.0.0.0", port: 0, sharingPort: true, on: loop)
            let other = try UDPSocket.bind(
                host: "0.0.0.0", port: member.localAddress.port, sharingPort: true, on: loop)
            let sender = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            try sender.setMulticastInterface("lo")
            try body(loop, member, other, sender)
            _ = try loop.run(until: Future.all([member.close(), other.close(), sender.close()]))
        }
    }
}
