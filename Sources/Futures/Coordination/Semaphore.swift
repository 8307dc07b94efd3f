/// A number of permits, handed out in the order in which they are asked for.
///
/// Who asks for many is not overtaken by those behind who ask for few. A request can be cancelled, or have a
/// time limit of its own by `Future.timeout`; it then leaves the line.
public final class FutureSemaphore: PermitIssuer {
    /// How many permits there are.
    public let limit: Int
    /// How many are to be had now.
    public private(set) var available: Int
    private let line: WaitLine<Int>
    private let name: String
    private var breakage: (any Error)?
    private var isGranting = false

    /// Traps if `count` is not positive.
    public convenience init(count: Int, on loop: EventLoop) {
        if count < 1 { Misuse.size(count, of: "A semaphore", atLeast: 1) }
        self.init(count, name: "semaphore", on: loop)
    }

    init(_ count: Int, name: String, on loop: EventLoop) {
        limit = count
        available = count
        self.name = name
        line = WaitLine(on: loop.core, name: name)
        line.onDeparture = { [unowned self] in grant() }
    }

    public var loop: EventLoop { line.loop }

    /// How many requests wait.
    public var waitingCount: Int { line.count }

    /// A future of `count` permits in one, when it is this request's turn.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if there never are so many, and with the error given to
    /// ``break(_:)``.
    public func acquire(_ count: Int = 1, token: CancellationToken = .none) -> Future<Permit> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let permit = tryAcquire(count) { return loop.succeeded(permit) }
        if let breakage { return loop.failed(breakage) }
        guard (1...limit).contains(count) else {
            return loop.failed(
                FutureError.invalidArgument(
                    "\(count) permits were asked of a \(name) that has \(limit); ask for 1 to \(limit)"))
        }
        return line.wait(for: Permit.self, count).until(token)
    }

    /// `count` permits in one, if they are to be had now and nobody waits; otherwise `nil`.
    public func tryAcquire(_ count: Int = 1) -> Permit? {
        loop.core.checkThread()
        guard breakage == nil, line.isEmpty, (1...limit).contains(count), count <= available else {
            return nil
        }
        available -= count
        return Permit(self, count: count)
    }

    /// Runs `body` with `count` permits, which are released when the future that it returns has completed.
    ///
    /// Cancelling the result before its turn, or `token`, takes it out of the line; `body` is then never run. Later
    /// it asks the future that `body` returned to cancel.
    public func with<Value>(
        _ count: Int = 1, token: CancellationToken = .none,
        _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        acquire(count, token: token).whileHeld(token, body)
    }

    /// Fails all requests that wait, and all later ones. Permits that are out may still be used.
    public func `break`(_ error: any Error) {
        loop.core.checkThread()
        guard breakage == nil else { return }
        breakage = error
        line.fail(error)
    }

    func takeBack(_ count: Int) {
        available += count
        grant()
    }

    /// Serves those in front, as far as the permits last. A permit that nobody takes comes back meanwhile.
    private func grant() {
        guard !isGranting else { return }
        isGranting = true
        while let first = line.first, first.payload <= available {
            _ = line.takeFirst()
            available -= first.payload
            first.target.succeed(Permit(self, count: first.payload))
        }
        isGranting = false
    }
}
