/// Says for which outcomes an error handler is called: errors, cancellation, or both.
public struct ErrorScope: Sendable {
    @usableFromInline let interest: Cell.Interest

    /// The interest of a tap. If the scope includes cancellation, the tap also runs when its own future is
    /// cancelled.
    @usableFromInline
    var interestOfTaps: Cell.Interest {
        interest.contains(.cancellation) ? interest.union(.afterCancel) : interest
    }

    /// Calls the handler for errors only. Cancellation is passed on without a call.
    public static let failure = ErrorScope(interest: .failure)
    /// Calls the handler for errors and for cancellation. The handler gets cancellation as a
    /// `CancellationError`.
    public static let cancellation = ErrorScope(interest: [.failure, .cancellation])
    /// Calls the handler for cancellation only. Errors are passed on without a call.
    public static let onlyCancellation = ErrorScope(interest: .cancellation)
}

extension Future {
    /// Replaces an error with the value that `body` returns for the error. If this future has a value, the
    /// returned future has the same value.
    ///
    /// `policy` says whether `body` is also called for a cancellation. If `body` throws, the returned future
    /// fails with that error. If you cancel the returned future itself, `body` is not called, even if
    /// `policy` includes cancellation.
    ///
    /// ```swift
    /// let page = fetch("index").recover(including: .cancellation) { _ in Data() }
    /// ```
    @inlinable
    public func recover(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> Value
    ) -> Future<Value> {
        cell.derive(RecoverStep(body: body), when: policy.interest, on: context, token: token)
    }

    /// Replaces an error with the outcome of the future that `body` returns for the error. If this future has
    /// a value, the returned future has the same value. `policy` says whether `body` is also called for a
    /// cancellation.
    ///
    /// ```swift
    /// let page = fetch("index").flatMapError { _ in fetch("mirror/index") }    // Only after a failure.
    /// ```
    @inlinable
    public func flatMapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> Future<Value>
    ) -> Future<Value> {
        cell.derive(FlatRecoverStep(body: body), when: policy.interest, on: context, token: token)
    }

    /// Replaces the error of this future with a new error: the one that `body` returns or throws. If this
    /// future has a value, the returned future has the same value. `policy` says whether `body` is also
    /// called for a cancellation.
    @inlinable
    public func mapError(
        including policy: ErrorScope = .failure, on context: LocalContext = .default,
        token: CancellationToken = .none, _ body: @escaping (any Error) throws -> any Error
    ) -> Future<Value> {
        recover(including: policy, on: context, token: token) { error in throw try body(error) }
    }
}

@usableFromInline
struct RecoverStep<Output>: Step {
    @usableFromInline let body: (any Error) throws -> Output

    @inlinable init(body: @escaping (any Error) throws -> Output) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) {
        target.tryToSucceed { try body(source.readFailure()) }
    }

    @inlinable static var verb: String? { "recover" }
}

@usableFromInline
struct FlatRecoverStep<Output>: Step {
    @usableFromInline let body: (any Error) throws -> Future<Output>

    @inlinable init(body: @escaping (any Error) throws -> Future<Output>) { self.body = body }

    @inlinable func run(source: CellPointer, target: CellPointer) {
        target.tryToFollow { try body(source.readFailure()) }
    }

    @inlinable static var verb: String? { "flatMapError" }
}
