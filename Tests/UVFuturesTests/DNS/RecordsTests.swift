import FoundationEssentials
import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct RecordsTests {
    @Test("each type of records has its number in the protocol")
    func types() {
        let types: [DNSType] = [
            .ipv4, .alias, .authority, .pointer, .exchange, .text, .ipv6, .service, .options, .https,
        ]
        #expect(types.map(\.rawValue) == [1, 5, 6, 12, 15, 16, 28, 33, 41, 65])
    }

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

    /// What a record of a name says, in one line.
    private func text(_ record: HTTPSRecord) -> String {
        let port = record.port.map { ":\($0)" } ?? ""
        return "\(record.priority) \(record.target)\(port) \(record.protocols.joined(separator: ","))"
    }

    @Test(
        "endpoints of an HTTPS server come by priority, behind aliases, without those that demand what is not known"
    )
    func endpoints() throws {
        try withResolver { servers, resolver, loop throws in
            let h2: [UInt8] = [2] + "h2".utf8
            let ipv6 = try SocketAddress(host: "2001:db8::1", port: 0).networkBytes
            servers.serve([
                "a.test": [
                    .https(priority: 3, target: "far.test", parameters: [1: h2, 0: [0, 1]]),
                    .https(priority: 2, parameters: [0: [0, 5], 5: [1]]),
                    .https(priority: 1, parameters: [3: [1, 187]]),
                    .https(
                        priority: 4,
                        parameters: [1: h2, 2: [], 4: [192, 0, 2, 1, 192, 0, 2, 2], 6: ipv6, 7: [1, 2]]),
                ],
                "b.test": [.https(priority: 0, target: "a.test", parameters: [3: [1]])],
                "c.test": [.https(priority: 0, target: "plain.test")], "plain.test": [.address("192.0.2.1")],
                "d.test": [.https(priority: 0, target: ".")],
                "e.test": [.https(priority: 0, target: "e.test")],
                "f.test": [.https(priority: 1, parameters: [0: [2, 0], 512: []])],
                "g.test": [
                    .https(
                        parameters: [
                            0: [0, 1, 0, 2, 0, 3, 0, 4, 0, 6], 1: h2, 2: [], 3: [0, 80], 4: [192, 0, 2, 1],
                            6: ipv6,
                        ])
                ],
            ])
            let expected = ["1 a.test:443 http/1.1", "3 far.test h2,http/1.1", "4 a.test h2"]
            for name in ["a.test", "b.test"] {
                let found = try loop.run(until: resolver.httpsServices(of: name, on: loop))
                #expect(found.map(text) == expected)
                #expect(
                    found[2].addressHints.map(\.description)
                        == ["192.0.2.1:0", "192.0.2.2:0", "[2001:db8::1]:0"])
                #expect(found[2].parameters[7] == Data([1, 2]) && found[0].timeToLive > .zero)
            }
            #expect(
                try loop.run(until: resolver.httpsServices(of: "c.test", on: loop)).map(text) == [
                    "0 plain.test "
                ])
            let demanding = try loop.run(until: resolver.httpsServices(of: "g.test", on: loop))
            #expect(demanding.map(text) == ["1 g.test:80 h2"])
            for (name, says) in [
                ("plain", "has no HTTPS record"), ("d", "has no HTTPS server"),
                ("e", "follows more than 16 aliases"),
                ("f", "has mandatory parameters that this library does not know"),
            ] {
                let complaint = loop.complaint(of: resolver.httpsServices(of: "\(name).test", on: loop))
                #expect(
                    complaint == "resolve EAI_NODATA \(name).test: 10.0.0.1:53 says that \(name).test \(says)"
                )
            }
        }
    }

    @Test(
        "a malformed record of an HTTPS server spoils those beside it, which alone might lead to another server"
    )
    func malformedEndpoints() throws {
        for (parameters, says) in [
            ([1: [3, 1]], "it ends within a record"), ([1: []], "its parameter 1 is malformed"),
            ([1: [0]], "its parameter 1 is malformed"), ([2: []], "it names no protocol"),
            ([1: [1, 65], 2: [0]], "its parameter 2 is malformed"), ([3: [1]], "it ends within a record"),
            ([3: [1, 2, 3]], "its parameter 3 is malformed"),
            ([4: [1, 2, 3]], "its parameter 4 is malformed"),
            ([4: []], "its parameter 4 is malformed"), ([6: [1, 2, 3, 4]], "its parameter 6 is malformed"),
            ([0: [0, 3]], "a mandatory parameter is missing"),
            ([0: []], "its parameter 0 is malformed"),
            ([0: [0, 0]], "its parameter 0 is malformed"),
            ([0: [0, 3, 0, 1]], "its parameter 0 is malformed"),
        ] as [([Int: [UInt8]], String)] {
            try withResolver { servers, resolver, loop throws in
                servers.serve(["a.test": [.https(priority: 1), .https(priority: 2, parameters: parameters)]])
                #expect(
                    loop.complaint(of: resolver.httpsServices(of: "a.test", on: loop))
                        == "resolve EAI_NODATA a.test: 10.0.0.1:53 says that an HTTPS record of a.test is malformed: \(says)"
                )
            }
        }
    }

    @Test(
        "parameters of an HTTPS server that come twice, or not in order, are malformed",
        arguments: [7, 6] as [UInt8])
    func disorder(second: UInt8) throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(
                    .https(parameters: [7: [1], 9: [2]]), of: reply.question.name, timeToLive: 60)
                var bytes = reply.bytes
                bytes[bytes.firstRange(of: [9, 0, 1, 2] as [UInt8])!.lowerBound] = second
                return [(.zero, bytes)]
            }
            #expect(
                loop.complaint(of: resolver.httpsServices(of: "a.test", on: loop)).hasSuffix(
                    "an HTTPS record of a.test is malformed: its parameters are out of order"))
        }
    }

    @Test("an HTTPS server whose target is no host name is malformed")
    func target() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                try reply.add(.https(target: "x.test"), of: reply.question.name, timeToLive: 60)
                var bytes = reply.bytes
                bytes[bytes.firstRange(of: [1] + "x".utf8)!.lowerBound + 1] = UInt8(ascii: "/")
                return [(.zero, bytes)]
            }
            let complaint = loop.complaint(of: resolver.httpsServices(of: "a.test", on: loop))
            #expect(
                complaint.hasSuffix("record of a.test is malformed: its target /.test is not a host name"),
                "\(complaint)")
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
