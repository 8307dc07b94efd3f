/// An object that hands out permits and takes them back.
protocol PermitIssuer: AnyObject {
    var loop: EventLoop { get }
    func takeBack(_ count: Int)
}

/// The right to use something, or to be somewhere. It ends with ``release()``, or with the object.
///
/// In an optimized build a local variable is released after its last use, not at the end of its scope. Call
/// ``release()`` where the use ends, or let `with` do so.
public final class Permit {
    /// The number of permits that this one stands for.
    public let count: Int
    private var issuer: (any PermitIssuer)?

    init(_ issuer: any PermitIssuer, count: Int) {
        self.issuer = issuer
        self.count = count
    }

    deinit { release() }

    /// Gives the permit back. Does nothing the second time.
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
    /// Runs `body` once the permit is there. Releases it when the future that `body` returns has completed, or when
    /// nobody waits for that any more.
    func whileHeld<NewValue>(
        _ token: CancellationToken, _ body: @escaping () throws -> Future<NewValue>
    ) -> Future<NewValue> {
        flatMap(token: token) { permit in
            let future: Future<NewValue>
            do {
                future = try body()
            } catch {
                permit.release()
                throw error
            }
            return future.onEnd(permit.release)
        }
    }
}
