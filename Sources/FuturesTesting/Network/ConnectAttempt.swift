internal import Futures
internal import UVFutures

/// The handshake of a TCP connection, as the client's system does it.
final class ConnectAttempt {
    /// The time until the first request is repeated. Each further time is twice as long.
    private static let firstRetry: UInt64 = 1_000_000_000
    private static let requests = 7
    /// The time after which a network says that it has no host with an address.
    private static let unreachableAfter: Duration = .seconds(3)

    private let socket: SimulatedSocket
    private let target: SocketAddress
    /// `nil` when it has been called, or will not be called. A request that would be repeated later keeps the
    /// attempt, but not the connection that has come of it.
    private var completion: ((UVError?) -> Void)?
    private var isOver = false
    private var count = 0

    init(
        _ socket: SimulatedSocket, to target: SocketAddress, _ completion: @escaping (UVError?) -> Void
    ) {
        self.socket = socket
        self.target = target
        self.completion = completion
    }

    private var simulation: Simulation { socket.simulation }
    private var host: SimulatedHost { socket.host }

    func start() {
        let address = host.destination(of: target)
        guard let local = host.localAddress(of: socket, towards: address) else {
            return end(after: .zero, .networkUnreachable)
        }
        socket.localAddress = local
        guard let peer = host.hostWith(address) else {
            return end(after: host.isInWorld ? Self.unreachableAfter : .zero, .hostUnreachable)
        }
        request(peer, address, local)
    }

    /// Sends a request, and repeats it until an answer has come.
    private func request(_ peer: SimulatedHost, _ address: SocketAddress, _ local: SocketAddress) {
        guard !isOver else { return }
        guard count < Self.requests else { return end(after: .zero, .timedOut) }
        let there = simulation.routes.path(from: host, to: peer)
        let back = simulation.routes.path(from: peer, to: host)
        send(along: there) { [self] in
            guard !isOver else { return }
            guard let listener = peer.listener(at: address, from: local) else {
                return send(along: back) { [self] in end(after: .zero, .connectionRefused) }
            }
            // A system whose backlog is full drops the request.
            guard let place = listener.reserve() else { return }
            send(along: back) { [self] in
                guard !isOver else { return place.giveBack() }
                guard place.take(socket, from: local, to: address) else {
                    return end(after: .zero, .connectionRefused)
                }
                end(after: .zero, nil)
            }
        }
        let pause = Self.firstRetry << UInt64(count)
        count += 1
        simulation.call(after: .nanoseconds(Int64(pause))) { [self] in request(peer, address, local) }
    }

    /// Calls `arrived` when a message has arrived, and never if it is lost.
    private func send(along path: Path, _ arrived: @escaping () -> Void) {
        // What is held or lost is repeated.
        guard path.isOpen else { return }
        simulation.add(Message { if path.isOpen { arrived() } }, at: path.arrival(ofBytes: 0))
    }

    /// Gives up, and does not call `completion`.
    func cancel() {
        isOver = true
        completion = nil
    }

    private func end(after delay: Duration, _ code: UVError.Code?) {
        guard !isOver else { return }
        isOver = true
        simulation.call(after: delay) { [self] in
            socket.whenAwake { [self] in
                guard !socket.isClosing, let completion = completion.take() else { return }
                // Without a connection, the address of this end is not known.
                socket.driver.deliver {
                    completion(code.map { UVError($0, "connect", peer: socket.peerAddress) })
                }
            }
        }
    }
}

/// A message that is under way.
private final class Message: SimulatedEvent {
    private let arrived: () -> Void

    init(_ arrived: @escaping () -> Void) { self.arrived = arrived }

    func happen() { arrived() }
}
