import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct RecordsTests {
    @Test("services come by priority, with names, ports and times to live")
    func services() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve([
                "_http._tcp.example.com": [
                    .service(priority: 2, weight: 0, port: 81, target: "b.example.com"),
                    .service(priority: 1, weight: 5, port: 80, target: "a.example.com"),
                ], "_no._tcp.example.com": [.service(port: 0, target: ".")],
            ])
            let found = try loop.run(until: resolver.services(of: "_http._tcp.example.com", on: loop))
            #expect(
                found.map { "\($0.priority) \($0.weight) \($0.target):\($0.port)" } == [
                    "1 5 a.example.com:80", "2 0 b.example.com:81",
                ])
            #expect(found[0].timeToLive == .seconds(60))
            #expect(
                loop.complaint(of: resolver.services(of: "_no._tcp.example.com", on: loop))
                    == "resolve EAI_NODATA _no._tcp.example.com: 10.0.0.1:53 says that the "
                    + "domain does not have the service"
            )
            #expect(
                loop.complaint(of: resolver.texts(of: "_no._tcp.example.com", on: loop))
                    == "resolve EAI_NODATA _no._tcp.example.com: 10.0.0.1:53 says that "
                    + "_no._tcp.example.com has no TXT record"
            )
        }
    }

    @Test("texts, servers of mail and names of addresses are found")
    func others() throws {
        try withResolver { servers, resolver, loop throws in
            servers.serve([
                "example.com": [
                    .text(["v=spf1 ", "-all"]), .mailExchange(preference: 20, "b.example.com"),
                    .mailExchange(preference: 10, "a.example.com"),
                ], "nomail.example.com": [.mailExchange(".")],
                "1.2.0.192.in-addr.arpa": [.pointer("a.example.com")],
                "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa": [
                    .pointer("b.example.com")
                ],
            ])
            let texts = try loop.run(until: resolver.texts(of: "example.com", on: loop))
            #expect(texts.map(\.text) == ["v=spf1 -all"] && texts[0].strings.count == 2)
            let mail = try loop.run(until: resolver.mailExchanges(of: "example.com", on: loop))
            #expect(
                mail.map { "\($0.preference) \($0.exchange)" } == ["10 a.example.com", "20 b.example.com"])
            #expect(
                loop.complaint(of: resolver.mailExchanges(of: "nomail.example.com", on: loop))
                    == "resolve EAI_NODATA nomail.example.com: 10.0.0.1:53 says that the domain takes no mail"
            )
            for (host, name) in [("192.0.2.1", "a.example.com"), ("2001:db8::1", "b.example.com")] {
                let address = try SocketAddress(host: host, port: 80)
                #expect(try loop.run(until: resolver.names(of: address, on: loop)).map(\.name) == [name])
            }
            let unknown = try SocketAddress(host: "192.0.2.9", port: 80)
            #expect(
                loop.complaint(of: resolver.names(of: unknown, on: loop))
                    == "resolve EAI_NONAME 192.0.2.9: 10.0.0.1:53 says that "
                    + "9.2.0.192.in-addr.arpa does not exist"
            )
        }
    }
}
