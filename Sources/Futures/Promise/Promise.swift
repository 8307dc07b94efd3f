/// The writing side of a future. A promise completes its future once.
///
/// Make the promise where the work starts, give its ``future`` to the code that waits, and complete the
/// promise when the work ends. The first completion wins: a later completion returns `false` and changes
/// nothing. If a promise is released before it has completed its future, the future fails with
/// ``FutureError/brokenPromise(file:line:)``.
///
/// In an optimized build, the object in a local variable is released after the last use of the variable, not
/// at the end of the scope. Therefore keep a reference to the promise in the object or closure that completes
/// it.
public final class Promise<Value> {
    /// The future that this promise completes.
    public let future: Future<Value>
    @usableFromInline let file: StaticString
    @usableFromInline let line: UInt

    @inlinable
    init(_ loop: EventLoop, file: StaticString, line: UInt) {
        future = Future(loop.withCore { Cell.plain($0, state: .pending, of: Value.self) })
        self.file = file
        self.line = line
        cell.promiseWasMade(file, line)
    }

    deinit { cell.pointer.promiseWasReleased(file, line) }

    @inlinable var cell: Cell { future.cell }

    /// Completes the future with `value`. Returns `false` if the future has already been completed or
    /// cancelled.
    @inlinable @discardableResult
    public func succeed(_ value: Value) -> Bool { cell.succeedAsPromised(value) }

    /// Fails the future with `error`. Returns `false` if the future has already been completed or cancelled.
    ///
    /// If `error` is a `CancellationError`, or if the ``CancellationIndicating/isCancellation`` of `error` is
    /// `true`, the future is cancelled instead.
    @inlinable @discardableResult
    public func fail(_ error: any Error) -> Bool { cell.isLockedIn ? false : cell.fail(error) }

    /// Completes the future with `result`. Returns `false` if the future has already been completed or
    /// cancelled.
    @inlinable @discardableResult
    public func complete(_ result: Result<Value, any Error>) -> Bool {
        cell.isLockedIn ? false : cell.complete(result)
    }

    /// Completes the future as cancelled. Returns `false` if the future has already been completed or
    /// cancelled.
    @inlinable @discardableResult
    public func cancel() -> Bool { fail(CancellationError()) }

    /// Completes the future with the outcome of `other`, now or when `other` completes. Returns `false` if
    /// the future has already been completed or cancelled.
    ///
    /// From now on, only `other` decides the outcome. Later completions of this promise return `false`, and a
    /// request to cancel the future goes to `other`. If `other` waits for the future of this promise, that
    /// future fails with ``FutureError/cycle``. Traps if `other` belongs to a different loop.
    @inlinable @discardableResult
    public func complete(using other: Future<Value>) -> Bool { cell.lockIn(to: other.cell) }
}

extension Promise where Value == Void {
    /// Completes the future with `Void`. Returns `false` if the future has already been completed or
    /// cancelled.
    @inlinable @discardableResult
    public func succeed() -> Bool { succeed(()) }
}

@available(
    *, unavailable, message: "A promise belongs to its loop's thread; go there with loop.execute { … }."
)
extension Promise: Sendable {}
