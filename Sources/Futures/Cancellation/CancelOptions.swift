/// The options of a request to cancel: how far upstream the request goes, and whether a producer can refuse
/// the request.
public struct CancelOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The option to cancel even if other code waits for this future or for the futures upstream. Everything
    /// that waits for these futures is then cancelled too.
    public static let evenIfOthersWaiting = CancelOptions(rawValue: 1)
    /// The option to ask only this future, and no future upstream. This future then stops waiting for the
    /// future upstream, which is not cancelled.
    public static let doNotForward = CancelOptions(rawValue: 2)
    /// The option to cancel this future now, even if a producer answers ``CancelResponse/continue``. The
    /// outcome of the producer's work is then dropped.
    public static let immediately = CancelOptions(rawValue: 4)
    /// The option to cancel only if a producer handles the request: the handler of a promise, a timer, or a
    /// group. If there is no such producer, nothing happens.
    public static let ifSupported = CancelOptions(rawValue: 8)

    /// The largest number of request handlers that can run inside one another, when each handler cancels the
    /// future of the next handler.
    public static let depthLimit = 20
}

extension Future {
    /// Asks this future to cancel, in the way that `options` describe. Without options, does the same as
    /// ``cancel()``.
    ///
    /// Returns The value is `false` if this future has completed. With ``CancelOptions/ifSupported``, also
    /// returns `false` if no producer handles the request. Without ``CancelOptions/evenIfOthersWaiting``,
    /// also returns `false` if other code waits for this future.
    ///
    /// ```swift
    /// future.cancel([.evenIfOthersWaiting, .immediately])    // Whoever else waits is cancelled too.
    /// ```
    @discardableResult
    public func cancel(_ options: CancelOptions) -> Bool { cell.requestCancellation(options) }

    /// Whether a producer handles a request to cancel this future: the handler of a promise, a timer, or a
    /// group. The value is `false` if this future has completed.
    public var isCancellationSupported: Bool { cell.checkedRoot.isCancellationSupported() }
}
