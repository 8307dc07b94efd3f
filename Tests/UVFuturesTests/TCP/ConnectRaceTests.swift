import Futures
import FuturesTesting
import Testing
import UVFutures

/// Happy eyeballs on virtual time.
struct ConnectRaceTests {
    @Test("the second address is tried after 250 ms while the first pends; the first that answers is taken")
    func staggered() throws {
        let network = Network()
        let race = network.race("2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2")
        network.loop.advance(by: .zero)
        #expect(network.attempts.map(\.description) == ["2001:db8::1 at 0.0 seconds"])
        network.loop.advance(by: .milliseconds(249))
        #expect(network.attempts.count == 1)
        network.loop.advance(by: .milliseconds(1))
        #expect(network.attempts.last?.description == "192.0.2.1 at 0.25 seconds")
        network.loop.advance(by: .milliseconds(600))
        #expect(
            network.attempts.suffix(2).map(\.description) == [
                "2001:db8::2 at 0.5 seconds", "192.0.2.2 at 0.75 seconds",
            ])
        #expect(!race.isCompleted)
        network.attempts[0].end(nil)
        #expect(try race.result?.get() === network.attempts[0])
        #expect(network.attempts.map(\.isClosed) == [false, true, true, true])
        network.expectNothingLeft()
    }

    @Test("one that fails is followed by the next at once, which then has 250 ms of its own")
    func atOnce() throws {
        let network = Network()
        let race = network.race("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")
        network.loop.advance(by: .milliseconds(100))
        network.attempts[0].end(.connectionRefused)
        #expect(network.attempts.count == 2)
        network.loop.advance(by: .milliseconds(249))
        #expect(network.attempts.count == 2)
        network.loop.advance(by: .milliseconds(1))
        #expect(network.attempts.count == 3)
        // An older one as well.
        network.attempts[1].end(.hostUnreachable)
        #expect(network.attempts.count == 4)
        network.attempts[3].end(nil)
        #expect(try race.result?.get() === network.attempts[3])
        #expect(network.attempts.map(\.isClosed) == [true, true, true, false])
        network.expectNothingLeft()
    }

    @Test("when all have failed the errors are those of the addresses, in the order of the attempts")
    func allFail() throws {
        let network = Network()
        let race = network.race("::1", "192.0.2.1", "192.0.2.2")
        network.loop.advance(by: .milliseconds(250))
        network.attempts[1].end(.connectionRefused)
        network.attempts[2].end(.networkUnreachable)
        #expect(!race.isCompleted)
        network.attempts[0].end(.hostUnreachable)
        #expect(
            "\(network.failure(of: race)!)" == """
                connect to example.com port 80: connect EHOSTUNREACH [::1]:80: host is unreachable; \
                connect ECONNREFUSED 192.0.2.1:80: connection refused; \
                connect ENETUNREACH 192.0.2.2:80: network is unreachable
                """)
        network.expectNothingLeft()
    }

    @Test("when the time is up, those that pend have timed out, and none is tried any more")
    func timesOut() throws {
        let network = Network()
        let race = network.race("::1", "192.0.2.1", "192.0.2.2", timeout: .milliseconds(400))
        network.loop.advance(by: .milliseconds(300))
        network.attempts[0].end(.connectionRefused)
        network.loop.advance(by: .milliseconds(99))
        #expect(!race.isCompleted)
        network.loop.advance(by: .milliseconds(1))
        let error = network.failure(of: race) as? ConnectError
        #expect(error?.errors.map(\.code) == [.connectionRefused, .timedOut, .timedOut])
        #expect(error?.host == "example.com")
        #expect(error?.port == 80)
        network.loop.advance(by: .seconds(10))
        #expect(network.attempts.count == 3)
        network.expectNothingLeft()
    }

    @Test("an attempt goes on until the time is up, however many have been started after it")
    func isPatient() throws {
        let network = Network()
        let race = network.race("192.0.2.1", "192.0.2.2")
        network.loop.advance(by: .milliseconds(9999))
        #expect(network.attempts.map(\.isClosed) == [false, false])
        network.attempts[0].end(nil)
        #expect(try race.result?.get() === network.attempts[0])
        network.expectNothingLeft()
    }

    @Test("cancelling closes all attempts, and starts none", arguments: [0, 100, 300])
    func cancelled(milliseconds: Int) {
        let network = Network()
        let race = network.race("192.0.2.1", "192.0.2.2", "192.0.2.3")
        network.loop.advance(by: .milliseconds(milliseconds))
        let count = network.attempts.count
        #expect(race.cancel())
        for attempt in network.attempts { attempt.end(.cancelled) }
        network.loop.advance(by: .seconds(60))
        #expect(network.attempts.count == count)
        #expect(network.attempts.allSatisfy { $0.isClosed })
        network.expectNothingLeft()
    }

    @Test("a snapshot of the loop tells which addresses a body waits for")
    func dump() {
        let network = Network()
        network.loop.isTraced = true
        let race = network.race("192.0.2.1", "::1")
        let body = Future(on: network.loop) { _ = try await race.value }
        network.loop.advance(by: .zero)
        #expect(network.loop.dump().contains("for a connection to 192.0.2.1:80, [::1]:80"))
        body.cancel()
        network.expectNothingLeft()
    }

    @Test("shutting the loop down closes all attempts")
    func shutDown() {
        let network = Network()
        let race = network.race("192.0.2.1", "192.0.2.2", "192.0.2.3")
        network.loop.advance(by: .milliseconds(300))
        network.loop.shutdown()
        #expect(throws: FutureError.shutDown) { try race.result?.get() }
        #expect(network.attempts.map(\.isClosed) == [true, true])
        for attempt in network.attempts { attempt.end(.cancelled) }
        #expect(network.attempts.count == 2)
    }

    @Test("an attempt that cannot be made is one that has failed")
    func unmade() throws {
        let network = Network()
        network.refused = ["192.0.2.1", "192.0.2.3"]
        let race = network.race("192.0.2.1", "192.0.2.2", "192.0.2.3")
        #expect(network.attempts.map(\.address.host) == ["192.0.2.2"])
        network.attempts[0].end(.connectionRefused)
        let error = network.failure(of: race) as? ConnectError
        #expect(error?.errors.map(\.code) == [.tooManyOpenFiles, .connectionRefused, .tooManyOpenFiles])
        network.refused = ["192.0.2.1"]
        let other = network.race("192.0.2.1")
        #expect((network.failure(of: other) as? ConnectError)?.errors.map(\.code) == [.tooManyOpenFiles])
        network.expectNothingLeft()
    }

    @Test("an address that comes twice is tried once, and a thousand that refuse take no time")
    func many() throws {
        let network = Network()
        network.refusesAll = true
        let hosts = (0..<1000).map { "10.0.\($0 / 250).\($0 % 250)" }
        let race = network.race(hosts + hosts)
        network.loop.advance(by: .zero)
        #expect((network.failure(of: race) as? ConnectError)?.errors.count == 1000)
        network.expectNothingLeft()
    }
}

/// Attempts that end when the test says so.
private final class Network {
    let loop = EventLoop.virtual()
    var attempts: [Attempt] = []
    /// Those towards which no socket can be made.
    var refused: Set<String> = []
    var refusesAll = false

    deinit { loop.shutdown() }

    func race(_ hosts: String..., timeout: Duration = .seconds(10)) -> Future<Attempt> {
        race(hosts, timeout: timeout)
    }

    func race(_ hosts: [String], timeout: Duration = .seconds(10)) -> Future<Attempt> {
        let race = ConnectRace<Attempt>(
            hosts.map { try! SocketAddress(host: $0, port: 80) }, on: loop,
            makeSocket: { [unowned self] address throws(SystemError) in
                if refused.contains(address.host) {
                    throw SystemError(.tooManyOpenFiles, "connect", local: nil, peer: address)
                }
                let attempt = Attempt(address, on: loop)
                attempts.append(attempt)
                if refusesAll { loop.submit { attempt.end(.connectionRefused) }.ignoreFailure() }
                return attempt
            }, connected: { $0 as! Attempt },
            failure: { ConnectError(host: "example.com", port: 80, errors: $0) })
        return race.start(until: loop.now.advanced(by: timeout))
    }

    func failure(of future: Future<Attempt>) -> (any Error)? {
        future.ignoreFailure()
        guard case .failure(let error) = future.result else { return nil }
        return error
    }

    func expectNothingLeft(_ location: SourceLocation = #_sourceLocation) {
        loop.advance(by: .zero)
        #expect(loop.statistics.timers == 0, sourceLocation: location)
        #expect(attempts.allSatisfy { $0.isClosed || $0.hasConnected }, sourceLocation: location)
    }
}

private final class Attempt: ConnectingSocket, CustomStringConvertible {
    let address: SocketAddress
    private let start: Duration
    private(set) var isClosed = false
    private(set) var hasConnected = false
    private var completion: ((SystemError?) -> Void)?

    init(_ address: SocketAddress, on loop: EventLoop) {
        self.address = address
        start = .nanoseconds(Int64(loop.core.clock))
    }

    var description: String { "\(address.host) at \(start)" }

    func connect(to address: SocketAddress, completion: @escaping (SystemError?) -> Void) {
        #expect(address == self.address)
        self.completion = completion
    }

    func timeout() -> SystemError { SystemError(.timedOut, "connect", local: nil, peer: address) }

    func connected() -> any TCPTransport { fatalError("An attempt of a test makes no connection.") }

    func close() { isClosed = true }

    func end(_ code: SystemError.Code?) {
        hasConnected = code == nil && !isClosed
        completion.take()?(code.map { SystemError($0, "connect", local: nil, peer: address) })
    }
}
