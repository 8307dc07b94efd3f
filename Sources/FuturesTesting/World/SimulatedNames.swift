public import Futures
public import UVFutures

/// The names of a ``World``. A name answers with addresses, late, wrongly, or never.
public final class SimulatedNames: NameResolver {
    private enum Answer {
        case addresses([String])
        case failure(UVError.Code)
        case silence
    }

    /// The time that an answer takes.
    public var latency: Duration = .milliseconds(1)
    private var answers: [String: Answer] = [:]
    private unowned let simulation: Simulation

    init(_ simulation: Simulation) { self.simulation = simulation }

    func add(_ host: SimulatedHost) { answers[host.name.lowercased()] = .addresses(host.addresses) }

    /// Makes `name` stand for `addresses`, from now on. Throws ``Futures/FutureError/invalidArgument(_:)`` if
    /// one of them is not a numeric address.
    public func set(_ name: String, to addresses: [String]) throws {
        let addresses = try addresses.map { try SocketAddress(host: $0, port: 0).host }
        answers[name.lowercased()] = .addresses(addresses)
        note("\(name) stands for \(addresses.joined(separator: ", "))")
    }

    /// Makes each question for `name` fail with a ``UVFutures/ResolutionError``.
    public func fail(_ name: String, with code: UVError.Code = .nameServerFailed) {
        answers[name.lowercased()] = .failure(code)
        note("\(name) cannot be resolved")
    }

    /// Leaves each question for `name` without an answer.
    public func silence(_ name: String) {
        answers[name.lowercased()] = .silence
        note("nobody answers questions for \(name)")
    }

    public func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        switch answers[name.lowercased()] {
        case .silence: return loop.never(of: [SocketAddress].self)
        case .failure(let code): return answer(.failure(ResolutionError(name: name, code: code)), on: loop)
        case nil:
            if case .localhost(let addresses)? = try? Host(name, port: port) {
                return answer(.success(addresses), on: loop)
            }
            return answer(.failure(ResolutionError(name: name, code: .nameNotFound)), on: loop)
        case .addresses(let hosts):
            return answer(
                .success(hosts.map { SocketAddress(canonicalHost: $0, port: UInt16(port)) }), on: loop)
        }
    }

    private func answer(
        _ result: Result<[SocketAddress], ResolutionError>, on loop: EventLoop
    ) -> Future<[SocketAddress]> {
        loop.schedule(after: latency) { try result.get() }.future
    }

    private func note(_ text: String) { simulation.trace.note(text, at: simulation.now) }
}
