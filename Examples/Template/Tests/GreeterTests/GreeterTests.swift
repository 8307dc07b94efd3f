import FoundationEssentials
import FuturesTesting
import Greeter
import Testing
import UVFutures

struct GreeterTests {
    @Test("each minute it is told how many clients were greeted")
    func reports() throws {
        let loop = EventLoop.virtual()
        var reports: [String] = []
        let server = try greetClients(host: "127.0.0.1", port: 7007, on: loop) { reports.append($0) }
        let answer = TCPConnection.connect(host: "127.0.0.1", port: 7007, on: loop).flatMap { client in
            client.write("Ada\n")
            return client.readLine().always { client.close() }
        }
        #expect(try loop.run(until: answer) == Data("hello, Ada".utf8))
        loop.advance(by: .seconds(120))  // takes no time
        #expect(reports == ["greeted 1 clients", "greeted 1 clients"])
        _ = try loop.run(until: server.shutdown(within: .seconds(1)))
    }

    @Test("a client that asks again is greeted, whatever happens to the network and to the hosts")
    func faults() throws {
        try World.explore(seeds: 0..<100) { world in
            try world.addHost("server") { host in
                _ = try greetClients(host: "0.0.0.0", port: 7007, on: host.loop) { _ in }
            }
            let loop = try world.addHost("client").loop
            var mix = World.FaultMix()
            mix.kinds = [.partition, .breakConnections, .slow, .pause]
            world.injectFaults(mix, until: .seconds(20))
            let answer = loop.retry(attempts: 30, backoff: .constant(.seconds(1))) { _ in
                TCPConnection.connect(host: "server", port: 7007, timeout: .seconds(1), on: loop)
                    .flatMap { client in
                        client.write("Ada\n")
                        return client.readLine().unwrap().timeout(after: .seconds(1))
                            .always { client.close() }
                    }
            }
            try #require(try world.run(until: answer) == Data("hello, Ada".utf8))
        }
    }
}
