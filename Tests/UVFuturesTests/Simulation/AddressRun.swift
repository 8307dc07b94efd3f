import FoundationEssentials
import Futures
import UVFutures

/// A program of addresses that is being run on a loop.
final class AddressRun: StepRun {
    typealias Program = AddressProgram

    private let loop: EventLoop
    private var ports: [Int: Int] = [:]
    private var listeners: [Int: TCPListener] = [:]
    private var connections: [Int: TCPConnection] = [:]
    private var sockets: [Int: UDPSocket] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    /// Returns what can be seen at the end. `settle` is called with the number of the settlings before, and a closure for
    /// what can be seen.
    static func outcomes(
        of program: Program, on loop: EventLoop, settle: (Int, () -> [String]) throws -> Bool
    ) throws -> [[String]] {
        let run = AddressRun(loop)
        var seen: [[String]] = []
        func settled() throws -> Bool {
            let isAsExpected = try settle(seen.count) { run.lines }
            seen.append(run.lines)
            return isAsExpected
        }
        defer { run.end() }
        for (number, step, settles) in program.steps {
            run.begin(number, step)
            if settles, try !settled() { return seen }
        }
        guard try settled() else { return seen }
        run.end()
        _ = try settled()
        return seen
    }

    /// What can be seen. The numbers of ports are replaced by the order in which they are seen.
    var lines: [String] {
        var names: [Substring: String] = [:]
        return outcomes.map { number, text in
            var parts = text.split(separator: ":", omittingEmptySubsequences: false)
            for index in parts.indices.dropFirst() {
                let digits = parts[index].prefix { $0.isNumber }
                guard digits.count == 5 else { continue }
                let name = names[digits] ?? "port \(names.count + 1)"
                names[digits] = name
                parts[index] = "\(name)\(parts[index].dropFirst(5))"
            }
            return "\(number): \(parts.joined(separator: ":"))"
        }
    }

    func end() {
        for connection in connections.values { connection.abort() }
        for listener in listeners.values { listener.close() }
        for socket in sockets.values { socket.close() }
        (connections, listeners, sockets) = ([:], [:], [:])
    }

    // MARK: Steps

    func begin(_ number: Int, _ step: Program.Step) {
        switch step {
        case .listen(let place, let sharing, let device):
            note(number) {
                let listener = try TCPListener(
                    host: place.host, port: try port(place),
                    options: ListenOptions(sharingPort: sharing, device: device ? "lo" : nil), on: loop)
                listeners[number] = listener
                ports[number] = listener.localAddress.port
                return "\(listener.localAddress)"
            }
        case .connect(let place, let source):
            note(number) {
                let (port, localPort) = (try port(place), try source.map(port) ?? 0)
                if port == localPort { return "left out" }
                let future = TCPConnection.connect(
                    host: place.host, port: port, localHost: source?.host, localPort: localPort, on: loop)
                watch(number, future) { self.take(number, $0) }
                return "pending"
            }
        case .accept(let listener):
            guard let listener = listeners[listener] else { return }
            outcomes.append((number, "pending"))
            watch(number, listener.accept()) { self.take(number, $0) }
        case .bind(let place, let sharing):
            note(number) {
                take(
                    number,
                    try UDPSocket.bind(
                        host: place.host, port: try port(place), sharingPort: sharing, on: loop))
            }
        case .connectDatagrams(let place, let source):
            note(number) {
                take(
                    number,
                    try UDPSocket.connect(
                        to: try address(place), from: try source.map(address), on: loop))
            }
        case .send(let sender, let target, let source):
            guard let socket = sockets[sender] else { return }
            note(number) {
                // The number of bytes says which datagram it is.
                let future = socket.send(
                    Data(count: number), to: try target.map(address), from: try source.map(address))
                watch(number, future) { "sent" }
                return "pending"
            }
        case .receive(let receiver):
            guard let socket = sockets[receiver] else { return }
            outcomes.append((number, "pending"))
            watch(number, socket.receive()) { datagram in
                let header = datagram.header
                return "\(datagram.bytes.count) bytes from \(addressText(of: header.source)) "
                    + "to \(addressText(of: header.destination)), here \(addressText(of: header.localAddress))"
            }
        case .close(let other):
            connections.removeValue(forKey: other)?.close()
            listeners.removeValue(forKey: other)?.close()
            sockets.removeValue(forKey: other)?.close()
        case .abort(let other): connections.removeValue(forKey: other)?.abort()
        }
    }

    private func port(_ place: Program.Place) throws -> Int {
        if case .of(let number) = place.port { ports[number] ?? 0 } else { 0 }
    }

    private func address(_ place: Program.Place) throws -> SocketAddress {
        try SocketAddress(host: place.host, port: try port(place))
    }

    private func take(_ number: Int, _ connection: TCPConnection) -> String {
        connections[number] = connection
        ports[number] = connection.localAddress?.port
        return "\(addressText(of: connection.localAddress)) – \(addressText(of: connection.peerAddress))"
    }

    private func take(_ number: Int, _ socket: UDPSocket) -> String {
        sockets[number] = socket
        ports[number] = socket.localAddress.port
        socket.onUnreachable { [unowned self] in outcomes.append((number, "told \(addressText(of: $0))")) }
        return "\(addressText(of: socket.localAddress)) – \(addressText(of: socket.peerAddress))"
    }
}
