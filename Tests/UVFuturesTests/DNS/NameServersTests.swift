import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct NameServersTests {
    private static let records: [String: [SimulatedNames.Record]] = Dictionary(
        uniqueKeysWithValues: (0..<2000).map { ("n\($0)", [.text(["\($0)"])]) })

    /// Lets `silent` give no answer, and the others all.
    private func silence(_ silent: String, _ servers: FakeServers) {
        servers.answer = { query in
            guard query.server.host != silent else { return [] }
            return [(.milliseconds(1), try query.reply.filled(Self.records, timeToLive: 0).bytes)]
        }
    }

    @Test("a silent server is passed over, and asked last for 30 seconds")
    func silent() throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            silence("10.0.0.1", servers)
            func time(_ name: String) throws -> Duration {
                let start = loop.now
                _ = try loop.run(until: resolver.texts(of: name, on: loop))
                return start.duration(to: loop.now)
            }
            #expect(try time("n0") == .milliseconds(5001))
            #expect(try time("n1") == .milliseconds(1))
            #expect(servers.asked == ["10.0.0.1 TXT n0", "10.0.0.2 TXT n0", "10.0.0.2 TXT n1"])
            loop.advance(by: .milliseconds(29_997))
            #expect(try time("n2") == .milliseconds(1))
            #expect(try time("n3") == .milliseconds(5001))
            #expect(resolver.statistics.silences == 2)
        }
    }

    @Test("the observer of the loop hears of a silent server, once a minute")
    func observed() throws {
        try withResolver { servers, resolver, loop throws in
            var warnings: [String] = []
            loop.observe { event in if case .warning(let text) = event { warnings.append(text) } }
            let sentence =
                "10.0.0.1:53 gave no answer within 5.0 seconds, and is asked after all others "
                + "for 30.0 seconds"
            for _ in 0..<5 { #expect(loop.failure(of: resolver.texts(of: "a", on: loop)) != nil) }
            #expect(warnings == [sentence])
            for _ in 0..<2 { #expect(loop.failure(of: resolver.texts(of: "a", on: loop)) != nil) }
            #expect(warnings == [sentence, sentence])
        }
    }

    @Test("while one name waits for a silent server, no other does")
    func delaysNobody() throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            // The first server does not answer questions for one name.
            servers.answer = { query in
                guard query.server.host != "10.0.0.1" || query.name != "n0" else { return [] }
                return [(.milliseconds(1), try query.reply.filled(Self.records, timeToLive: 0).bytes)]
            }
            let slow = resolver.texts(of: "n0", on: loop)
            let start = loop.now
            let others = (1..<1000).map { resolver.texts(of: "n\($0)", on: loop) }
            #expect(try loop.run(until: Future.all(others, on: loop)).count == 999)
            // With 256 queries at a time.
            #expect(start.duration(to: loop.now) == .milliseconds(4))
            #expect(servers.mostOpenSockets == 256)
            #expect(!slow.isCompleted)
            #expect(try loop.run(until: slow)[0].text == "0")
        }
    }

    @Test("each server is asked as often as attempts says, and the error names them all")
    func timedOut() throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            let start = loop.now
            let text =
                "10.0.0.1:53 gave no answer within 5.0 seconds; 10.0.0.2:53 gave no answer within 5.0 seconds"
            let error = loop.failure(of: resolver.texts(of: "a", on: loop)) as? ResolutionError
            #expect(error?.description == "resolve ETIMEDOUT a: " + text)
            #expect(error?.reason == text && error?.server == nil && error?.code == .timedOut)
            #expect(servers.queries.map(\.server.host) == ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2"])
            #expect(start.duration(to: loop.now) == .seconds(20))
        }
    }

    @Test(
        "a server that fails or refuses is asked once, and the next one answers",
        arguments: [DNSResponse.Code.serverFailed, .refused, .notImplemented, DNSResponse.Code(number: 9)])
    func failing(code: DNSResponse.Code) throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            var isSecondGood = true
            servers.answer = { query in
                var reply = query.reply
                if query.server.host == "10.0.0.1" || !isSecondGood {
                    reply.fail(code)
                } else {
                    reply = try reply.filled(Self.records, timeToLive: 0)
                }
                return [(.milliseconds(1), reply.bytes)]
            }
            #expect(try loop.run(until: resolver.texts(of: "n5", on: loop))[0].text == "5")
            isSecondGood = false
            let failed = "answered with an error (\(code))"
            #expect(
                loop.complaint(of: resolver.texts(of: "n6", on: loop))
                    == "resolve EAI_AGAIN n6: 10.0.0.1:53 \(failed); 10.0.0.2:53 \(failed)")
        }
    }

    @Test("a server that refers to others is passed over, and alone it does not know")
    func referral() throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                if query.server.host == "10.0.0.1" || query.name == "n2" {
                    reply.flags &= ~DNSFlags.recursionAvailable
                } else {
                    reply = try reply.filled(Self.records, timeToLive: 0)
                }
                if query.name == "zone" {
                    // It has the zone, though it does not say so.
                    reply.addAuthority(of: reply.question.name, timeToLive: 0, minimum: 0)
                }
                return [(.zero, reply.bytes)]
            }
            #expect(try loop.run(until: resolver.texts(of: "n1", on: loop))[0].text == "1")
            #expect(
                loop.complaint(of: resolver.texts(of: "zone", on: loop))
                    == "resolve EAI_NODATA zone: 10.0.0.1:53 says that zone has no TXT record")
            let text = "has no answer, and does not ask other servers (use a recursive name server)"
            #expect(
                loop.complaint(of: resolver.texts(of: "n2", on: loop))
                    == "resolve EAI_AGAIN n2: 10.0.0.1:53 \(text); 10.0.0.2:53 \(text)")
        }
    }

    @Test("an answer that needs a larger datagram is asked for with EDNS0, and nothing else is")
    func large() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                let reply = try query.reply.filled(Self.records, timeToLive: 0)
                let fits = reply.takesLargeAnswers || query.name == "n1"
                return [(.milliseconds(1), fits ? reply.bytes : reply.truncated)]
            }
            for name in ["n1", "n2"] { _ = try loop.run(until: resolver.texts(of: name, on: loop)) }
            #expect(servers.asked == ["n1", "n2", "n2"].map { "10.0.0.1 TXT \($0)" })
            #expect(servers.queries.map(\.reply.takesLargeAnswers) == [false, false, true])
            #expect(Set(servers.queries.map(\.reply.id)).count == 3)
            #expect(resolver.statistics.queries == 3 && resolver.statistics.truncatedAnswers == 0)
        }
    }

    enum Reaction: CaseIterable {
        case formatError, notImplemented, badVersion, missing, nothing, truncated, cut, silence
    }

    @Test("whatever a query with EDNS0 meets, the answer comes by TCP", arguments: Reaction.allCases)
    func reactions(reaction: Reaction) throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                var reply = query.reply
                let good = try reply.filled(Self.records, timeToLive: 0)
                guard !query.isByConnection else { return [(.milliseconds(1), good.bytes)] }
                guard reply.takesLargeAnswers else { return [(.milliseconds(1), reply.truncated)] }
                switch reaction {
                case .formatError: reply.fail(.formatError)
                case .notImplemented: reply.fail(.notImplemented)
                case .missing: reply.fail(.nameNotFound)
                case .nothing: break
                case .truncated: return [(.zero, reply.truncated)]
                case .cut: return [(.zero, good.bytes.dropLast(13))]
                case .silence: return []
                case .badVersion:
                    var bytes = reply.bytes
                    bytes[bytes.count - 6] = 1
                    return [(.zero, bytes)]
                }
                return [(.zero, reply.bytes)]
            }
            let start = loop.now
            #expect(try loop.run(until: resolver.texts(of: "n1", on: loop))[0].text == "1")
            #expect(start.duration(to: loop.now) == .milliseconds(reaction == .silence ? 252 : 2))
            #expect(resolver.statistics.truncatedAnswers == 1 && resolver.statistics.silences == 0)
        }
    }

    @Test("a truncated answer is asked for again by TCP")
    func truncated() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                let reply = try query.reply.filled(Self.records, timeToLive: 0)
                return [(.milliseconds(1), query.isByConnection ? reply.bytes : reply.truncated)]
            }
            #expect(try loop.run(until: resolver.texts(of: "n1", on: loop))[0].text == "1")
            #expect(servers.queries.map(\.isByConnection) == [false, false, true])
            #expect(servers.queries[0].bytes == servers.queries[2].bytes)
            #expect(resolver.statistics.truncatedAnswers == 1)
            servers.answer = { query in [(.milliseconds(1), query.reply.truncated)] }
            #expect(
                loop.complaint(of: resolver.texts(of: "n2", on: loop))
                    == "resolve EAI_AGAIN n2: 10.0.0.1:53 sent a malformed answer: it does "
                    + "not answer the question"
            )
            servers.answer = { query in query.isByConnection ? [] : [(.zero, query.reply.truncated)] }
            #expect(
                loop.complaint(of: resolver.texts(of: "n3", on: loop))
                    == "resolve ETIMEDOUT n3: 10.0.0.1:53 gave no answer within 5.0 seconds")
        }
    }

    @Test("datagrams that do not answer the query are counted, and the right one is waited for")
    func forged() throws {
        try withResolver { servers, resolver, loop throws in
            servers.answer = { query in
                let good = try query.reply.filled(Self.records, timeToLive: 0)
                var wrongID = good
                wrongID.id ^= 1
                var isQuery = query.reply
                isQuery.flags &= ~DNSFlags.response
                var other = NameServerReply(
                    to: DNSQuery(id: good.id, question: DNSQuestion(try DNSName("n2"), .text)).bytes)!
                other = try other.filled(Self.records, timeToLive: 0)
                let datagrams = [wrongID.bytes, isQuery.bytes, other.bytes, [], [1, 2, 3], good.bytes]
                return datagrams.enumerated().map { (.milliseconds($0.offset), $0.element) }
            }
            #expect(try loop.run(until: resolver.texts(of: "n1", on: loop))[0].text == "1")
            #expect(resolver.statistics.ignoredAnswers == 5)
            #expect(resolver.statistics.queries == 1)
        }
    }

    @Test("a malformed answer of the server lets the next one be asked, and the error says what is wrong")
    func malformed() throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            servers.answer = { query in
                let good = try query.reply.filled(Self.records, timeToLive: 0).bytes
                return [
                    (.zero, query.server.host == "10.0.0.1" || query.name == "n2" ? good.dropLast() : good)
                ]
            }
            #expect(try loop.run(until: resolver.texts(of: "n1", on: loop))[0].text == "1")
            let text = "sent a malformed answer: it ends within a record"
            #expect(
                loop.complaint(of: resolver.texts(of: "n2", on: loop))
                    == "resolve EAI_AGAIN n2: 10.0.0.1:53 \(text); 10.0.0.2:53 \(text)")
        }
    }

    @Test("a server that cannot be reached is passed over at once, and asked last afterwards")
    func unreachable() throws {
        try withResolver(["10.0.0.1", "10.0.0.2"]) { servers, resolver, loop throws in
            servers.answer = { query in
                if query.server.host == "10.0.0.1" { throw SystemError(.connectionRefused, "receive") }
                return [(.zero, try query.reply.filled(Self.records, timeToLive: 0).bytes)]
            }
            for name in ["n1", "n2"] { _ = try loop.run(until: resolver.texts(of: name, on: loop)) }
            #expect(servers.queries.map(\.server.host) == ["10.0.0.1", "10.0.0.2", "10.0.0.2"])
            servers.answer = { _ in throw SystemError(.connectionRefused, "receive") }
            #expect(
                loop.complaint(of: resolver.texts(of: "n3", on: loop))
                    == "resolve EAI_AGAIN n3: 10.0.0.2:53 could not be asked: receive "
                    + "ECONNREFUSED: connection refused; "
                    + "10.0.0.1:53 could not be asked: receive ECONNREFUSED: connection refused")
        }
    }

    @Test("with rotate, the servers are asked in turn")
    func rotate() throws {
        try withLoop(.virtual) { loop throws in
            let servers = FakeServers()
            servers.serve(Self.records, timeToLive: 0)
            loop.setNameFiles(resolvConf: "nameserver 10.0.0.1\nnameserver 10.0.0.2\noptions rotate")
            let resolver = try DNSResolver(DNSSettings(transport: servers.transport))
            for number in 0..<4 { _ = try loop.run(until: resolver.texts(of: "n\(number)", on: loop)) }
            #expect(servers.queries.map(\.server.host) == ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2"])
        }
    }

    @Test("ids are random, and with random case the letters are, too")
    func random() throws {
        try withResolver(randomizesCase: true) { servers, resolver, loop throws in
            var isRefused = false
            servers.answer = { query in
                var reply = try query.reply.filled(Self.records, timeToLive: 0)
                if isRefused {
                    let name = "\(reply.question.name)"
                    let lower = DNSQuestion(try DNSName(name.lowercased()), .text)
                    reply = NameServerReply(to: DNSQuery(id: reply.id, question: lower).bytes)!
                }
                return [(.zero, reply.bytes)]
            }
            let names = (0..<200).map { "n\($0)" }
            _ = try loop.run(until: Future.all(names.map { resolver.texts(of: $0, on: loop) }, on: loop))
            #expect(Set(servers.queries.map(\.reply.id)).count > 190)
            let upper = servers.queries.count { $0.name.hasPrefix("N") }
            #expect((50...150).contains(upper), "\(upper)")
            // An answer with other letters is ignored.
            isRefused = true
            let long = "nothingofthesort"
            #expect(loop.failure(of: resolver.texts(of: long, on: loop)) != nil)
            #expect(resolver.statistics.ignoredAnswers > 0)
        }
    }
}
