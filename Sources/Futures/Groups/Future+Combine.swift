/// Completes with a tuple of the values of all `futures`, which may have different types.
///
/// If one of the futures fails or is cancelled, the returned future fails or is cancelled at once. The
/// futures that are still pending are then asked to cancel, as `cancelRemaining` says. Even with `.always`, a
/// future for which other code waits is not cancelled. If there are no `futures`, the returned future belongs
/// to `loop`, or to ``EventLoop/current`` if `loop` is `nil`. In this case, the call traps if `loop` and
/// ``EventLoop/current`` are both `nil`. Also traps if `futures` belong to different loops, or to a loop
/// other than `loop`.
///
/// ```swift
/// let line = combine(fetch("index"), text).map { page, title in "\(title): \(page.count) bytes" }
/// ```
public func combine<each Value>(
    _ futures: repeat Future<each Value>, cancelRemaining: CancelRemaining = .always,
    on loop: EventLoop? = nil
) -> Future<(repeat each Value)> {
    var (loop, missing) = (loop, 0)
    for future in repeat each futures {
        loop = loop ?? future.loop
        missing += 1
    }
    guard let loop = loop ?? EventLoop.current else { Misuse.noLoop() }
    loop.core.checkThread()
    let target = Cell.plain(loop.core, state: .pending, of: (repeat each Value).self)
    let combined = Gathering<(repeat each Value)>(target, cancelRemaining)
    let combination = Combination(combined, missing: missing, parts: repeat Part<each Value>())
    if missing == 0 { combination.succeed() }
    for (future, part) in repeat (each futures, each combination.parts) {
        combined.group.wait(for: future.cell, step: combination.step(for: part))
    }
    return Future(target)
}

/// The values that have arrived so far. Each value is in a box, since the values have different types.
private final class Combination<each Value> {
    private let combined: Gathering<(repeat each Value)>
    private var missing: Int
    let parts: (repeat Part<each Value>)

    init(_ combined: Gathering<(repeat each Value)>, missing: Int, parts: repeat Part<each Value>) {
        self.combined = combined
        self.missing = missing
        self.parts = (repeat each parts)
    }

    func step<One>(for part: Part<One>) -> CompleteObserver<One> {
        CompleteObserver { result in
            switch result {
            case .success(let value):
                part.value = .some(value)
                self.missing -= 1
                if self.missing == 0 { self.succeed() }
            case .failure(let error): self.combined.fail(error)
            }
        }
    }

    func succeed() { combined.succeed((repeat (each parts).required)) }
}

/// A box for the value of one future. `nil` until the value has arrived.
private final class Part<Value> {
    var value: Value?

    /// The value, which has arrived.
    var required: Value { value! }
}

extension Future {
    /// Completes with the value of this future and the value of `other`. If one of the two fails or is
    /// cancelled, the returned future fails or is cancelled at once. The other one of the two is then asked
    /// to cancel, unless other code waits for it.
    public func and<Other>(_ other: Future<Other>) -> Future<(Value, Other)> { combine(self, other) }
}
