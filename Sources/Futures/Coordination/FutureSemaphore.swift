/// A counter of permits that limits how many operations run at a time. Requests get permits in the order in
/// which they were made.
///
/// For example, if a request for five permits waits, a later request for one permit waits behind it, even if
/// one permit is free. You can cancel a waiting request, or limit its time with `Future.timeout`. The
/// requests behind it then move up.
public final class FutureSemaphore: PermitIssuer {
    /// The total number of permits, both free and in use.
    public let limit: Int
    /// The number of permits that are free now.
    public private(set) var available: Int
    private let line: WaitLine<Int>
    private let name: String
    private var breakage: (any Error)?
    private var isGranting = false
    private var permits = PermitHolders()

    /// Creates a semaphore with `count` permits. Traps if `count` is not positive.
    public convenience init(count: Int, on loop: EventLoop) {
        if count < 1 { Misuse.size(count, of: "A semaphore's count", atLeast: 1) }
        self.init(count, name: "semaphore", on: loop)
    }

    init(_ count: Int, name: String, on loop: EventLoop) {
        limit = count
        available = count
        self.name = name
        line = WaitLine(on: loop.core, name: name)
        line.onDeparture = { [unowned self] in grant() }
        line.holders = { [unowned self] in permits.text(of: self) }
    }

    public var loop: EventLoop { line.loop }

    /// The number of requests that wait for permits.
    public var waitingCount: Int { line.count }

    /// Requests `count` permits. The returned future completes with one ``Permit`` object for all of them.
    /// That happens when all requests before this request have got their permits, and `count` permits are
    /// free.
    ///
    /// Fails with ``FutureError/invalidArgument(_:)`` if `count` is less than one or more than ``limit``.
    /// After ``break(_:)``, fails with the error that was given to that function.
    ///
    /// ```swift
    /// let semaphore = FutureSemaphore(count: 4, on: loop)
    /// let permit = try await semaphore.acquire().timeout(after: .seconds(1)).value
    /// defer { permit.release() }
    /// let page = try await load("page")
    /// ```
    public func acquire(_ count: Int = 1, token: CancellationToken = .none) -> Future<Permit> {
        guard !token.isCancelled(on: loop.core) else { return loop.failed(CancellationError()) }
        if let permit = tryAcquire(count) { return loop.succeeded(permit) }
        if let breakage { return loop.failed(breakage) }
        guard (1...limit).contains(count) else {
            let complaint =
                "\(count) permits were requested from a \(name) that has \(limit); ask for 1 to \(limit)"
            return loop.failed(FutureError.invalidArgument(complaint))
        }
        return line.wait(for: Permit.self, count).until(token)
    }

    /// Takes `count` permits now, and returns one ``Permit`` object for all of them. Returns `nil` if fewer
    /// than `count` permits are free, if a request waits, or after ``break(_:)``.
    public func tryAcquire(_ count: Int = 1) -> Permit? {
        loop.core.checkThread()
        guard breakage == nil, line.isEmpty, count > 0, count <= available else { return nil }
        return permit(count)
    }

    private func permit(_ count: Int, for request: Cell? = nil) -> Permit {
        available -= count
        let permit = Permit(self, count: count, for: request)
        permits.add(permit, of: self)
        return permit
    }

    /// Takes a permit although others wait. The caller knows that one is free.
    func acquirePastLine() -> Permit {
        loop.core.checkThread()
        return permit(1)
    }

    /// Waits for `count` permits, runs `body`, and releases the permits when the future that `body` returned
    /// has completed. The returned future has the same outcome as that future.
    ///
    /// If the returned future or `token` is cancelled while the request waits, the request is withdrawn and
    /// `body` never runs. If the returned future or `token` is cancelled later, the future that `body`
    /// returned is asked to cancel.
    ///
    /// ```swift
    /// let semaphore = FutureSemaphore(count: 4, on: loop)
    /// let pages = names.map { name in semaphore.with { fetch(name) } }
    /// ```
    public func with<Value>(
        _ count: Int = 1, token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        acquire(count, token: token).whileHeld(token, body)
    }

    /// Fails all waiting requests and all later requests with `error`. Permits that are in use stay valid. A
    /// second call does nothing.
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

    /// Serves the first requests as long as enough permits are free. If a request was cancelled, its permit
    /// is released at once and serves the next request.
    private func grant() {
        guard !isGranting else { return }
        isGranting = true
        while let first = line.first, first.payload <= available {
            _ = line.takeFirst()
            first.target.succeed(permit(first.payload, for: first.target))
        }
        isGranting = false
    }
}
