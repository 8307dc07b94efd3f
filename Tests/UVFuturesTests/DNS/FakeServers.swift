import Futures
import Testing

@testable import FuturesTesting
@testable import SystemIO
@testable import UVFutures

/// Name servers without a network, whose answers the test decides, on the clock of a virtual loop.
final class FakeServers {
    /// A query as a server got it.
    struct Query {
        let server: SocketAddress
        let bytes: [UInt8]
        let isByConnection: Bool

        var reply: NameServerReply { NameServerReply(to: bytes)! }
        var name: String { "\(reply.question.name)" }
        /// The name of the type that is asked for, which the question itself does not know.
        var type: String {
            let known: [DNSType] = [.ipv4, .ipv6, .text, .service, .exchange, .https, .pointer]
            return "\(known.first { $0 == reply.question.type } ?? reply.question.type)"
        }
    }

    /// The datagrams that answer a query, and the time after which each one comes. No datagram is silence.
    var answer: (Query) throws -> [(Duration, [UInt8])] = { _ in [] }
    private(set) var queries: [Query] = []
    private(set) var openSockets = 0
    private(set) var mostOpenSockets = 0

    /// What was asked, as in `10.0.0.1 A www.example.com`.
    var asked: [String] { queries.map { "\($0.server.host) \($0.type) \($0.name)" } }

    /// Answers each question from `records`, after a millisecond. A name without records does not exist.
    func serve(
        _ records: [String: [SimulatedNames.Record]], timeToLive: UInt32 = 60, minimum: UInt32 = 60,
        after delay: Duration = .milliseconds(1)
    ) {
        answer = { query in
            [
                (
                    delay,
                    try query.reply.filled(records, timeToLive: timeToLive, minimum: minimum).bytes
                )
            ]
        }
    }

    var transport: DNSTransport {
        DNSTransport(
            open: { [self] server, loop in
                openSockets += 1
                mostOpenSockets = max(mostOpenSockets, openSockets)
                return FakeSocket(self, server, loop)
            },
            ask: { [self] bytes, server, loop in
                let query = Query(server: server, bytes: bytes, isByConnection: true)
                queries.append(query)
                do {
                    guard let (delay, answer) = try answer(query).first else {
                        return loop.never(of: [UInt8].self)
                    }
                    return loop.succeeded(answer, after: delay)
                } catch {
                    return loop.failed(error)
                }
            })
    }

    private final class FakeSocket: DNSSocket {
        private let servers: FakeServers
        private let server: SocketAddress
        private let loop: EventLoop
        private let arrived: FutureChannel<[UInt8]>
        private var timers: [ScheduledTask<Void>] = []

        init(_ servers: FakeServers, _ server: SocketAddress, _ loop: EventLoop) {
            self.servers = servers
            self.server = server
            self.loop = loop
            arrived = FutureChannel(capacity: 1000, on: loop)
        }

        func send(_ bytes: [UInt8]) -> Future<Void> {
            let query = Query(server: server, bytes: bytes, isByConnection: false)
            servers.queries.append(query)
            do {
                for (delay, datagram) in try servers.answer(query) {
                    let timer = loop.schedule(after: delay) { [arrived] in _ = arrived.trySend(datagram) }
                    timer.future.ignoreFailure()
                    timers.append(timer)
                }
            } catch {
                return loop.failed(error)
            }
            return loop.succeeded()
        }

        func receive() -> Future<DNSDatagram> { arrived.receive().map { DNSDatagram(bytes: $0) } }

        func close() {
            servers.openSockets -= 1
            for timer in timers { timer.cancel() }
            timers = []
            arrived.close()
        }
    }
}

extension NameServerReply {
    /// The reply with what `records` say of the question, aliases included.
    func filled(
        _ records: [String: [SimulatedNames.Record]], timeToLive: UInt32, minimum: UInt32 = 60
    ) throws -> NameServerReply {
        var reply = self
        var name = question.name
        while let own = records["\(name)".lowercased()] {
            var target: String?
            for record in own where record.type == question.type || record.type == .alias {
                try reply.add(record, of: name, timeToLive: timeToLive)
                if case .alias(let other) = record { target = other }
            }
            guard let target else {
                if !own.contains(where: { $0.type == question.type }) {
                    reply.addAuthority(of: name, timeToLive: timeToLive, minimum: minimum)
                }
                return reply
            }
            name = try DNSName(target)
        }
        reply.fail(.nameNotFound)
        reply.addAuthority(of: name, timeToLive: timeToLive, minimum: minimum)
        return reply
    }
}

/// Runs `body` with a resolver on a virtual loop, and proves that nothing is left of it.
func withResolver(
    _ servers: [String] = ["10.0.0.1"], maxConcurrent: Int = 256, maxCached: Int = 1000,
    maxNegativeTimeToLive: Duration = .seconds(900), randomizesCase: Bool = false,
    _ body: (FakeServers, DNSResolver, EventLoop) throws -> Void
) throws {
    try withLoop(.virtual) { loop in
        let fake = FakeServers()
        var settings = DNSSettings(transport: fake.transport)
        settings.servers = try servers.map { try SocketAddress(host: $0, port: 53) }
        settings.maxConcurrent = maxConcurrent
        settings.maxCached = maxCached
        settings.maxNegativeTimeToLive = maxNegativeTimeToLive
        settings.randomizesCase = randomizesCase
        let resolver = try DNSResolver(settings)
        try body(fake, resolver, loop)
        settle(loop)
        #expect(fake.openSockets == 0)
    }
}

extension EventLoop {
    /// The text of the error that `future` fails with.
    func complaint<Value>(of future: Future<Value>) -> String {
        failure(of: future).map { "\($0)" } ?? "none"
    }
}

extension EventLoop {
    /// Sets the files by which the host of a virtual loop resolves names.
    func setNameFiles(resolvConf: String, hosts: String = "") {
        let host = (core.driver as! VirtualDriver).host
        host.resolvConf = resolvConf
        host.hostsFile = hosts
    }
}
