import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct ServerNameTests {
    @Test(
        "every spelling of a name is one name, for the choice of a context and on each connection",
        arguments: [
            ("other.test", "other.test"), ("OTHER.TEST", "other.test"), ("Other.Test.", "other.test"),
            ("localhost", "localhost"), ("LocalHost.", "localhost"),
            ("xn--Mnchen-3YA.test", "xn--mnchen-3ya.test"),
            ("a_b.Test", "a_b.test"), ("127.0.0.1", nil), ("::1", nil), (nil, nil),
        ] as [(String?, String?)], TLSVersion.allCases)
    func spellings(name: (given: String?, expected: String?), version: TLSVersion) throws {
        try withLoop { loop in
            for chooses in [false, true] {
                var chosen: [String?] = []
                let other = try loop.server()
                var configuration = TLSServerConfiguration.usual
                if chooses {
                    configuration.chooseContext = { name in
                        chosen.append(name)
                        return loop.succeeded(other)
                    }
                }
                let context = try loop.server(configuration)
                let wish = RawClient.Wish(version: version, name: name.given)
                var session: RawSession?
                for round in 0..<3 {
                    let client = try RawClient(on: loop, context, wish, resuming: session)
                    client.advance()
                    let server = try loop.run(until: client.server)
                    #expect(server.isResumed == (round > 0) && server.serverName == name.expected)
                    server.write("hello\n")
                    loop.advance(by: .seconds(1))
                    session = client.session
                    client.stream.abort()
                    server.abort()
                }
                #expect(chosen == Array(repeating: name.expected, count: chooses ? 3 : 0))
            }
        }
    }

    @Test("both sides call the server by the same name", arguments: TLSVersion.allCases)
    func ofBoth(version: TLSVersion) throws {
        try withLoop { loop in
            var client = TLSClientConfiguration.usual
            client.parameters.versions = version...version
            let (server, context) = try (loop.server(), loop.client(client))
            for (round, host) in ["example.org", "EXAMPLE.org.", "Example.Org"].enumerated() {
                let pair = try loop.pair(server, context, host: host)
                #expect(pair.client.serverName == "example.org" && pair.server.serverName == "example.org")
                #expect(pair.client.isResumed == (round > 0))
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
            }
        }
    }

    @Test(
        "what is no name is refused with an alert, before anybody is asked",
        arguments: [
            "", ".", "..", "a..b", ".a", "a b", "a\0", "\0", "main.test\0.evil", "a/b", "a:b", "*.test",
            "münchen.test",
            "1.2", String(repeating: "a", count: 64) + ".test", String(repeating: "a.", count: 128),
            String(repeating: "a", count: 256), String(repeating: "a.", count: 500) + "a",
        ], [false, true])
    func noNames(name: String, chooses: Bool) throws {
        try withLoop { loop in
            let answer = try answer(to: naming(Data(name.utf8), in: greeting(loop)), loop, chooses)
            #expect(answer.alert.elementsEqual([2, 112]))
            #expect(reason(answer.failure) == .protocolViolation)
            #expect("\(try #require(answer.failure))".contains("not a DNS name); look at the peer"))
        }
    }

    @Test("bytes that are no text are no name either")
    func noText() throws {
        try withLoop { loop in
            let answer = try answer(to: naming(Data([0x61, 0xFF, 0xC0]), in: greeting(loop)), loop, true)
            #expect(answer.alert.elementsEqual([2, 112]) && reason(answer.failure) == .protocolViolation)
        }
    }

    /// The number at each of these places before the name, less than a name, is the size of what follows, or the kind.
    @Test("a list of names that is malformed is refused with an alert", arguments: 1...5, [false, true])
    func malformedLists(place: Int, chooses: Bool) throws {
        try withLoop { loop in
            var bytes = try greeting(loop)
            bytes[try #require(bytes.firstRange(of: Self.greetedName)).lowerBound - place] ^= 8
            let answer = try answer(to: bytes, loop, chooses)
            #expect(answer.alert.elementsEqual([2, 50]) && reason(answer.failure) == .protocolViolation)
        }
    }

    @Test(
        "a client that is asked to greet again keeps to its name", arguments: [false, true], [false, true])
    func secondGreeting(keepsName: Bool, chooses: Bool) throws {
        try withLoop { loop in
            let second = try greeting(loop)
            var first = second
            // A share of the key for a curve that nobody has.
            let share = try #require(first.firstRange(of: [0x00, 0x33, 0x00, 0x26, 0x00, 0x24, 0x00, 0x1D]))
            first[share.upperBound - 2] = 0x5A
            let groups = try #require(first.firstRange(of: [0x00, 0x0A, 0x00, 0x16, 0x00, 0x14]))
            first.replaceSubrange(groups.upperBound + 18..<groups.upperBound + 20, with: [0x5A, 0x1D])
            var configuration = TLSServerConfiguration.usual
            if chooses { configuration.chooseContext = { _ in loop.succeeded(nil) } }
            let (near, far) = try MemoryStream.pair(on: loop)
            let server = far.startTLS(server: try loop.server(configuration)).ignoreFailure()
            near.write(first)
            #expect(try loop.run(until: near.read()).starts(with: [22]))
            near.write(keepsName ? second : try naming(Data("localhosx".utf8), in: second))
            let answer = try loop.run(until: near.read())
            #expect(keepsName ? answer.first == 22 : answer.first == 21 && answer.suffix(2) == Data([2, 47]))
            near.abort()
            #expect(loop.failure(of: server) != nil)
        }
    }

    private static let greetedName = Data("localhost".utf8)

    /// The greeting of a client that asks for a name that is to be replaced.
    private func greeting(_ loop: EventLoop) throws -> Data {
        let client = try RawClient(
            on: loop, try loop.server(), RawClient.Wish(version: .tls13, name: "localhost"))
        client.server.ignoreFailure()
        defer { client.stream.abort() }
        return client.greeting()
    }

    /// The same greeting with another name in it.
    private func naming(_ name: Data, in greeting: Data) throws -> Data {
        var bytes = greeting
        let range = try #require(bytes.firstRange(of: Self.greetedName))
        bytes.replaceSubrange(range, with: name)
        let more = name.count - range.count
        func add(at place: Int) {
            let size = Int(bytes[place]) << 8 + Int(bytes[place + 1]) + more
            bytes[place] = UInt8(size >> 8)
            bytes[place + 1] = UInt8(size & 0xFF)
        }
        // After the random bytes: the session's number, the ciphers, the compression, and then the extensions.
        var extensions = 43
        extensions += 1 + Int(bytes[extensions])
        extensions += 2 + Int(bytes[extensions]) << 8 + Int(bytes[extensions + 1])
        extensions += 1 + Int(bytes[extensions])
        for place in [3, 7, extensions, range.lowerBound - 7, range.lowerBound - 5, range.lowerBound - 2] {
            add(at: place)
        }
        return bytes
    }

    /// How a server answers a greeting: with an alert, and with which failure of its own.
    private func answer(
        to greeting: Data, _ loop: EventLoop, _ chooses: Bool
    ) throws -> (alert: Data, failure: (any Error)?) {
        var configuration = TLSServerConfiguration.usual
        if chooses {
            configuration.chooseContext = { name in
                Issue.record("asked for “\(name ?? "")”")
                return loop.succeeded(nil)
            }
        }
        let (near, far) = try MemoryStream.pair(on: loop)
        let server = far.startTLS(server: try loop.server(configuration))
        near.write(greeting)
        let failure = loop.failure(of: server)
        let said = try loop.run(until: near.readToEnd())
        near.abort()
        #expect(said.count == 7 && said.first == 21, "\(Array(said))")
        return (said.suffix(2), failure)
    }
}
