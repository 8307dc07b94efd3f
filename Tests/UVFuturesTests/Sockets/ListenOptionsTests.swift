import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

struct ListenOptionsTests {
    @Test(
        "an option that is out of range, or of another kind of socket, is refused with a sentence",
        arguments: TestNetwork.allCases)
    func refusals(network: TestNetwork) throws {
        try withLoop(network) { loop in
            func complaint(_ options: ListenOptions, atPath: Bool = false) -> String {
                do {
                    let server = SocketServer<SocketConnection>(on: loop) { $0.closed }
                    if atPath {
                        try server.listen(path: "@options", options: options)
                    } else {
                        try server.listen(host: "127.0.0.1", port: 0, options: options)
                    }
                    server.close()
                    return "none"
                } catch {
                    return "\(error)"
                }
            }
            #expect(
                complaint(ListenOptions(backlog: -1)).contains(
                    "a backlog of -1 is out of range; give 0 to 2147483647"))
            #expect(complaint(ListenOptions(permissions: 0o600)).contains("a TCP socket has no file"))
            #expect(complaint(ListenOptions(sharingPort: true), atPath: true).contains("has no port"))
            #expect(complaint(ListenOptions(device: "lo"), atPath: true).contains("has no interface"))
            for name in ["", "an interface of 18", "a\0b"] {
                #expect(complaint(ListenOptions(device: name)).contains("must have 1 to 15 bytes"), "\(name)")
            }
            #expect(
                complaint(ListenOptions(device: "nowhere0")) == "listen ENODEV 127.0.0.1:0: no such device")
            #expect(complaint(ListenOptions(backlog: 0, sharingPort: true, device: "lo")) == "none")
        }
    }

    @Test(
        "a socket of one interface takes the connections of that, and leaves the port to those of others",
        arguments: TestNetwork.allCases)
    func device(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let inner = try TCPListener(
                host: "127.0.0.1", port: 0, options: ListenOptions(device: "lo"), on: loop)
            let port = inner.localAddress.port
            for device in [nil, "lo"] {
                let error = #expect(throws: SystemError.self) {
                    try TCPListener(
                        host: "127.0.0.1", port: port, options: ListenOptions(device: device), on: loop)
                }
                #expect(error?.code == .addressInUse)
            }
            let client = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
            try loop.run(until: inner.accept()).abort()
            try loop.run(until: client).abort()
            try loop.run(until: inner.close())
        }
    }

    @Test(
        "a connection of one interface keeps no socket of all interfaces from the same two addresses",
        arguments: TestNetwork.allCases, [nil, "lo"])
    func sameAddresses(network: TestNetwork, device: String?) throws {
        try withLoop(network) { loop in
            let listener = try TCPListener(
                host: "127.0.0.1", port: 0, options: ListenOptions(device: device), on: loop)
            let (host, port) = ("127.0.0.1", listener.localAddress.port)
            let client = try loop.run(until: TCPConnection.connect(host: host, port: port, on: loop))
            let accepted = try loop.run(until: listener.accept())
            try loop.run(until: listener.close())
            let again = TCPConnection.connect(
                host: host, port: client.localAddress!.port, localHost: host, localPort: port, on: loop)
            let error = #expect(throws: SystemError.self) { try loop.run(until: again) }
            #expect(error?.code == (device == nil ? .addressNotAvailable : .connectionRefused))
            accepted.abort()
            client.abort()
        }
    }

    @Test("without options, 1024 connections wait, and the port is for one socket")
    func defaults() {
        let options = ListenOptions()
        #expect(options.backlog == 1024 && !options.sharingPort)
        #expect(options.device == nil && options.permissions == nil)
    }
}
