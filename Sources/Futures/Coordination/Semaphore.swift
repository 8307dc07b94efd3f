/// A counter of permits that limits how many operations run at a time. It hands permits out in the order of the
/// requests.
///
/// A request for many permits is not overtaken by later requests for few. A request can be cancelled, or have a time
/// limit of its own by `Future.timeout`. It then leaves the line.
public final class FutureSemaphore: PermitIssuer {
    /// The number of permits in all.
    public let limit: Int
    /// The number of permits available now.
    public private(set) var available: Int
    private let line: WaitLine<Int>
    private let name: String
    private var breakage: (any Error)?
    private var isGranting = false

    /// Creates a semaphore of `count` permits. Traps if `count` is not positive.
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

    /// The number of requests that wait.
    public var waitingCount: Int { line.count }

    /// Completes with `count` permits in one, when it is this request's turn.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if there are never so many, and with the error given to
    /// ``break(_:)``.
    ///
    /// ```swift
    /// let semaphore = FutureSemaphore(count: 4, on: loop)
    /// let permit = try await semaphore.acquire().timeout(after: .seconds(1)).value
    /// defer { permit.release() }
    /// let page = try await load("page")
    /// ```
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

    /// Takes `count` permits in one, if they are available now and nobody waits. Otherwise returns `nil`.
    public func tryAcquire(_ count: Int = 1) -> Permit? {
        loop.core.checkThread()
        guard breakage == nil, line.isEmpty, (1...limit).contains(count), count <= available else {
            return nil
        }
        available -= count
        return Permit(self, count: count)
    }

    /// Runs `body` with `count` permits, and releases them when the future that `body` returns has completed.
    ///
    /// Cancelling the result before its turn, or `token`, takes it out of the line, and `body` never runs. Later it
    /// asks the future that `body` returned to cancel.
    ///
    /// ```swift
    /// let semaphore = FutureSemaphore(count: 4, on: loop)
    /// let pages = names.map { name in semaphore.with { fetch(name) } }
    /// ```
    public func with<Value>(
        _ count: Int = 1, token: CancellationToken = .none,
        _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        acquire(count, token: token).whileHeld(token, body)
    }

    /// Fails all requests, waiting and later ones, with the error. Permits that are out may still be used.
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

    /// Serves the requests in front, as far as the permits last. A permit that nobody takes comes back meanwhile.
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
