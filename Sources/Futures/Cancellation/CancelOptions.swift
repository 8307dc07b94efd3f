/// How far a request to cancel goes, and what it does there.
public struct CancelOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Cancel although others wait for this future or for those upstream; they are then cancelled with it.
    public static let evenIfOthersWaiting = CancelOptions(rawValue: 1)
    /// Do not ask those upstream: this future only stops waiting for them.
    public static let doNotForward = CancelOptions(rawValue: 2)
    /// Cancel this future now, even if a producer answers that the work goes on; what comes of it is dropped.
    public static let immediately = CancelOptions(rawValue: 4)
    /// Ask only a producer that handles requests; do nothing if there is none.
    public static let ifSupported = CancelOptions(rawValue: 8)

    /// How deep handlers of requests may be nested that cancel each other's futures.
    public static let depthLimit = 20
}

extension Future {
    /// Asks for the future to be cancelled, as ``cancel()`` does, in another way.
    ///
    /// Returns `false` if it has completed; if somebody waits for it, unless
    /// ``CancelOptions/evenIfOthersWaiting``; or, with ``CancelOptions/ifSupported``, if nobody answers.
    @discardableResult
    public func cancel(_ options: CancelOptions) -> Bool { cell.requestCancellation(options) }

    /// Whether a request to cancel this future would reach somebody who answers it: the handler of a promise,
    /// a timer, a group. `false` if it has completed.
    public var isCancellationSupported: Bool { cell.checkedRoot.isCancellationSupported() }

    /// What cancels this future when it is released, if nobody waits for the future then.
    ///
    /// Dropping a future does not cancel it; keep this where the wish for the outcome lives.
    public func cancelOnDeinit() -> CancelHandle { CancelHandle(cell) }
}

/// Asks for a future to be cancelled when it is released, or before.
///
/// It belongs to the future's loop, as the future does, and has to be released there.
public final class CancelHandle {
    private let cell: Cell

    init(_ cell: Cell) { self.cell = cell }

    deinit { cancel() }

    /// As ``Future/cancel(_:)``.
    @discardableResult
    public func cancel(_ options: CancelOptions = []) -> Bool { cell.requestCancellation(options) }
}

@available(
    *, unavailable,
    message: "A cancel handle belongs to its loop's thread; go there with loop.execute { … }."
)
extension CancelHandle: Sendable {}
