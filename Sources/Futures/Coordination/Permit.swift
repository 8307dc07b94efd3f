/// An object that hands out permits and takes them back.
protocol PermitIssuer: AnyObject {
    var loop: EventLoop { get }
    func takeBack(_ count: Int)
}

/// The right to hold a lock, to run within the limit of a semaphore, or to be inside a gate. The right ends
/// when ``release()`` is called, or when the permit object is released.
///
/// In an optimized build, the object in a local variable is released after the last use of the variable, not
/// at the end of the scope. So call ``release()`` when you no longer need the right, or use a method like
/// ``FutureSemaphore/with(_:token:_:)``, which releases the permit.
public final class Permit {
    /// The number of permits that this object represents.
    public let count: Int
    private var issuer: (any PermitIssuer)?
    #if DEBUG
        fileprivate let callers: Callers
    #endif

    /// Creates a permit of `issuer`, for the request that waits as `request` if it has to wait.
    init(_ issuer: any PermitIssuer, count: Int, for request: Cell? = nil) {
        self.issuer = issuer
        self.count = count
        #if DEBUG
            callers = request?.callers ?? Callers(on: issuer.loop.core)
        #endif
    }

    deinit { release() }

    func isHeld(of issuer: any PermitIssuer) -> Bool { self.issuer === issuer }

    /// Gives the permit back. A second call does nothing.
    public func release() {
        guard let issuer else { return }
        issuer.loop.core.checkThread()
        self.issuer = nil
        issuer.takeBack(count)
    }
}

@available(
    *, unavailable, message: "A permit belongs to its loop's thread; go there with loop.execute { … }."
)
extension Permit: Sendable {}

extension Future where Value == Permit {
    /// Runs `body` when the permit is there. Releases the permit when the future that `body` returned has
    /// completed, or when nobody waits for that future any more.
    func whileHeld<NewValue>(
        _ token: CancellationToken, _ body: @escaping () throws -> Future<NewValue>
    ) -> Future<NewValue> {
        flatMap(token: token) { permit in try body().onEnd(permit.release) }
    }
}

/// The permits that somebody holds, for a snapshot. A release build does not know them.
struct PermitHolders {
    #if DEBUG
        private var holders: [Weak<Permit>] = []
    #endif

    /// Adds `permit`, and forgets those that `issuer` has got back.
    mutating func add(_ permit: Permit, of issuer: any PermitIssuer) {
        #if DEBUG
            holders.removeAll { $0.object?.isHeld(of: issuer) != true }
            holders.append(Weak(permit))
        #endif
    }

    /// The lines that requested the permits.
    func text(of issuer: any PermitIssuer) -> String? {
        #if DEBUG
            let held = holders.compactMap(\.object).filter { $0.isHeld(of: issuer) }
            let places = held.map { $0.callers.place ?? "an unknown line" }
            return places.isEmpty ? nil : "held since \(places.joined(separator: ", "))"
        #else
            return nil
        #endif
    }
}
