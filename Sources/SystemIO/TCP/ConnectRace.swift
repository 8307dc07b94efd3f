package import Futures

/// A race of attempts to connect to one of several addresses. The first address that answers wins, as in [RFC
/// 8305](https://www.rfc-editor.org/rfc/rfc8305), happy eyeballs.
///
/// A new attempt starts 250 ms after the last one, or as soon as an attempt fails. All attempts go on until
/// one of them succeeds or the time is up. The sockets and the timers keep the race alive.
package final class ConnectRace<Connection> {
    private let loop: LoopCore
    private let makeSocket: (SocketAddress) throws(SystemError) -> any ConnectingSocket
    private let connected: (any ConnectingSocket) -> Connection
    private let failure: ([SystemError]) -> any Error
    private let promise: Promise<Connection>
    private var untried: ArraySlice<SocketAddress>
    /// The sockets of the attempts that have not ended, by the number of the attempt.
    private var pending: [Int: any ConnectingSocket] = [:]
    /// The errors of the attempts, by the number of the attempt. `nil` for an attempt that has not ended.
    private var errors: [SystemError?] = []
    private var hasEnded = false
    private var limit: ScheduledTask<Void>?
    private var stagger: ScheduledTask<Void>?

    /// Creates a race. `connected` turns the connected socket into the result. `failure` turns the errors of all
    /// attempts into one error.
    package init(
        _ addresses: [SocketAddress], on loop: EventLoop,
        makeSocket: @escaping (_ address: SocketAddress) throws(SystemError) -> any ConnectingSocket,
        connected: @escaping (any ConnectingSocket) -> Connection,
        failure: @escaping ([SystemError]) -> any Error
    ) {
        self.loop = loop.core
        self.makeSocket = makeSocket
        self.connected = connected
        self.failure = failure
        untried = interleaved(addresses)[...]
        promise = loop.makePromise()
        promise.isCalled("a connection to \(addresses.map(\.description).joined(separator: ", "))")
    }

    /// Starts the race, and completes with the connection. Fails when all attempts have failed, or at
    /// `deadline`.
    package func start(until deadline: LoopInstant) -> Future<Connection> {
        promise.onCancelRequest { [self] in
            end()
            return .cancel
        }
        let limit = loop.schedule(at: deadline) { [self] in timeIsUp() }
        // The timer fails only when the loop is shut down. Then the race ends, too.
        limit.future.whenFailure { [self] _ in end() }
        self.limit = limit
        startNext()
        return promise.future
    }

    private func startNext() {
        stagger?.cancel()
        while let address = untried.popFirst() {
            let number = errors.count
            do throws(SystemError) {
                let socket = try makeSocket(address)
                errors.append(nil)
                pending[number] = socket
                socket.connect(to: address) { [self] error in ended(number, error) }
                break
            } catch {
                errors.append(error)
            }
        }
        if pending.isEmpty { return fail() }
        if untried.isEmpty { return }
        stagger = loop.schedule(after: .milliseconds(250)) { [self] in startNext() }
    }

    private func ended(_ number: Int, _ error: SystemError?) {
        guard !hasEnded, let socket = pending.removeValue(forKey: number) else { return }
        if let error {
            socket.close()
            errors[number] = error
            startNext()
        } else {
            end()
            promise.succeed(connected(socket))
        }
    }

    private func timeIsUp() {
        for (number, socket) in pending { errors[number] = socket.timeout() }
        fail()
    }

    private func fail() {
        end()
        promise.fail(failure(errors.compactMap { $0 }))
    }

    private func end() {
        hasEnded = true
        untried = []
        // In a fixed order, so that a simulated network does the same in each run.
        for (_, socket) in pending.sorted(by: { $0.key < $1.key }) { socket.close() }
        pending = [:]
        limit?.cancel()
        stagger?.cancel()
    }
}

/// Returns each address once, alternating between the families. Keeps the order within each family.
private func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    var seen: Set<SocketAddress> = []
    let unique = addresses.filter { seen.insert($0).inserted }
    let first = unique.filter { $0.isIPv6 == unique[0].isIPv6 }
    let second = unique.filter { $0.isIPv6 != unique[0].isIPv6 }
    return (0..<max(first.count, second.count)).flatMap { index in
        [first, second].compactMap { index < $0.count ? $0[index] : nil }
    }
}
