import FuturesTesting
import SystemIO
import Testing

@testable import UVFutures

struct DatagramLifeTests {
    @Test("an observer hears of a socket, and the dump has a line for it", arguments: TestNetwork.allCases)
    func observed(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var events: [String] = []
            loop.observe { event in
                switch event {
                case .opened(let what): events.append("opened \(what)")
                case .closed(let what, let failure):
                    events.append("closed \(what) \(failure.map { "\($0)" } ?? "")")
                default: break
                }
            }
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let line = "datagrams \(socket.localAddress)"
            #expect(loop.dump().contains(line))
            #expect(loop.statistics.handles == 1 && loop.statistics.connections == 0)
            try loop.run(until: socket.close())
            #expect(events == ["opened \(line)", "closed \(line) "])
        }
    }

    @Test(
        "sockets in the midst of work leave no descriptor, future or handle behind",
        arguments: TestNetwork.allCases)
    func leaks(network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            for round in 0..<50 {
                let server = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
                let client = try UDPSocket.connect(to: server.localAddress, on: loop)
                var future: Future<Void>?
                switch round % 5 {
                case 0:
                    future = server.forEachDatagram { bytes, header in server.send(bytes, to: header.source) }
                case 1: future = server.receive().asVoid()
                case 2: future = Future(on: loop) { for try await _ in server.datagrams {} }
                case 3: future = client.receive().asVoid()
                default: future = nil
                }
                for _ in 0..<5 { client.send("x") }
                if round % 2 == 0 { try loop.run(for: .milliseconds(1)) }
                client.close()
                server.close()
                if let future { _ = loop.outcome(of: future) }
            }
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("all sockets receive into the same memory, which is released with the last of them")
    func sharedMemory() throws {
        try withLoop { loop in
            let driver = try #require(loop.system as? UVLoop)
            let sockets = try (0..<2).map { _ in try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop) }
            let block = driver.datagrams
            try loop.run(until: sockets[0].close())
            #expect(block != nil && driver.datagrams === block)
            try loop.run(until: sockets[1].close())
            #expect(driver.datagrams == nil)
        }
    }
}
