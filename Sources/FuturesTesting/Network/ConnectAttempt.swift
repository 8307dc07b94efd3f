internal import SystemIO

/// The handshake of a TCP connection, as the client's system performs it.
final class ConnectAttempt {
    /// The time until the first request is repeated. Each further pause is twice as long.
    private static let firstRetry: UInt64 = 1_000_000_000
    private static let requests = 7
    /// The time after which the network reports that no host has an address.
    private static let unreachableAfter: Duration = .seconds(3)

    private let socket: SimulatedSocket
    private let target: SocketAddress
    /// `nil` once it has been called, or will not be called. So a repetition that is still scheduled retains the
    /// attempt, but no longer the connection.
    private var completion: ((SystemError?) -> Void)?
    private var isOver = false
    private var count = 0

    init(
        _ socket: SimulatedSocket, to target: SocketAddress, _ completion: @escaping (SystemError?) -> Void
    ) {
        self.socket = socket
        self.target = target
        self.completion = completion
    }

    private var simulation: Simulation { socket.simulation }
    private var host: SimulatedHost { socket.host }

    func start() {
        let address: SocketAddress
        do throws(SystemError) {
            address = try host.place(socket, towards: target)
        } catch {
            return end(after: .zero, error)
        }
        let local = socket.localAddress!.unmapped
        guard let peer = host.hostWith(address) else {
            return end(after: host.isInWorld ? Self.unreachableAfter : .zero, failure(.hostUnreachable))
        }
        request(peer, address, local)
    }

    /// Sends a request, and repeats it until an answer arrives.
    private func request(_ peer: SimulatedHost, _ address: SocketAddress, _ local: SocketAddress) {
        guard !isOver else { return }
        guard count < Self.requests else { return end(after: .zero, failure(.timedOut)) }
        let there = simulation.routes.path(from: host, to: peer)
        let back = simulation.routes.path(from: peer, to: host)
        send(along: there) { [self] in
            guard !isOver else { return }
            guard let listener = peer.listener(at: address, from: local) else {
                return send(along: back) { [self] in end(after: .zero, failure(.connectionRefused)) }
            }
            // A system drops the request while the backlog is full.
            guard let place = listener.reserve() else { return }
            send(along: back) { [self] in
                guard !isOver else { return place.giveBack() }
                guard place.take(socket, from: local, to: address) else {
                    return end(after: .zero, failure(.connectionRefused))
                }
                end(after: .zero, nil)
            }
        }
        let pause = Self.firstRetry << UInt64(count)
        count += 1
        simulation.call(after: .nanoseconds(Int64(pause))) { [self] in request(peer, address, local) }
    }

    /// Calls `arrived` when a message arrives. Never calls it if the message is lost.
    private func send(along path: Path, _ arrived: @escaping () -> Void) {
        // A message that is held or lost is not delivered later: the request is repeated.
        guard path.isOpen else { return }
        simulation.call(at: path.arrival(ofBytes: 0)) { if path.isOpen { arrived() } }
    }

    /// Gives up without calling `completion`.
    func cancel() {
        isOver = true
        completion = nil
    }

    /// Without a connection, the address of this end is unknown.
    private func failure(_ code: SystemError.Code) -> SystemError {
        SystemError(code, "connect", peer: target)
    }

    private func end(after delay: Duration, _ error: SystemError?) {
        guard !isOver else { return }
        isOver = true
        socket.soon(after: delay) { [self] in completion.take()?(error) }
    }
}
