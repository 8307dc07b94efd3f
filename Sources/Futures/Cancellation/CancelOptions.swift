/// The options of a request to cancel a future. They say how far upstream the request goes, and whether a
/// producer can refuse the request. The futures that a future was derived from are upstream of that future.
public struct CancelOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The option to cancel even if other code waits for this future or for a future upstream. Everything
    /// that waits for one of these futures is then cancelled too.
    public static let evenIfOthersWaiting = CancelOptions(rawValue: 1)
    /// The option to ask only this future, and not the futures upstream. This future then stops waiting for
    /// the future that it was derived from. That future is not cancelled.
    public static let doNotForward = CancelOptions(rawValue: 2)
    /// The option to cancel this future now, even if its producer answers ``CancelResponse/continue``. The
    /// producer then continues its work, and the outcome of that work is dropped.
    public static let immediately = CancelOptions(rawValue: 4)
    /// The option to cancel only if a producer handles the request. Such a producer is a promise with a
    /// handler, a timer, or a group. If there is no such producer, nothing happens.
    public static let ifSupported = CancelOptions(rawValue: 8)

    /// The largest number of request handlers that can run inside one another. Handlers run inside one
    /// another when one handler cancels another future, the handler of that future cancels yet another
    /// future, and so on.
    public static let depthLimit = 20
}

extension Future {
    /// Asks this future to cancel, in the way that `options` describe. With empty options, does the same as
    /// ``cancel()``.
    ///
    /// Returns `false`, and changes nothing, if this future has completed. With
    /// ``CancelOptions/ifSupported``, also returns `false` if no producer handles the request. If other code
    /// waits for this future, returns `true` only with ``CancelOptions/evenIfOthersWaiting``.
    ///
    /// ```swift
    /// future.cancel([.evenIfOthersWaiting, .immediately])    // Whoever else waits is cancelled too.
    /// ```
    @discardableResult
    public func cancel(_ options: CancelOptions) -> Bool { cell.requestCancellation(options) }

    /// Whether a producer handles a request to cancel this future. Such a producer is a promise with a
    /// handler, a timer, or a group. The value is `false` if this future has completed.
    public var isCancellationSupported: Bool { cell.checkedRoot.isCancellationSupported() }
}
