/// The options that say how far a request to cancel goes, and how a producer's answer counts.
public struct CancelOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The option to cancel even if others wait for this future or for futures upstream. Everything else that
    /// waits for them is then cancelled too.
    public static let evenIfOthersWaiting = CancelOptions(rawValue: 1)
    /// The option to ask no future upstream. This future only stops waiting for the future upstream.
    public static let doNotForward = CancelOptions(rawValue: 2)
    /// The option to cancel this future now, even if a producer answers that its work continues. The outcome
    /// of that work is then dropped.
    public static let immediately = CancelOptions(rawValue: 4)
    /// The option to ask only a producer that handles requests. If there is no such producer, nothing
    /// happens.
    public static let ifSupported = CancelOptions(rawValue: 8)

    /// The largest number of nested calls of request handlers, when each handler cancels the future of the
    /// next one.
    public static let depthLimit = 20
}

extension Future {
    /// Asks for this future to be cancelled, in the way that `options` describe. Without options, does the
    /// same as ``cancel()``.
    ///
    /// Returns `false` if this future has completed. With ``CancelOptions/ifSupported``, also returns `false`
    /// if nothing answers the request. Without ``CancelOptions/evenIfOthersWaiting``, also returns `false` if
    /// something waits for this future.
    ///
    /// ```swift
    /// future.cancel([.evenIfOthersWaiting, .immediately])    // Whoever else waits is cancelled too.
    /// ```
    @discardableResult
    public func cancel(_ options: CancelOptions) -> Bool { cell.requestCancellation(options) }

    /// Whether a request to cancel this future would reach something that answers the request: the handler of
    /// a promise, a timer, or a group. `false` if this future has completed.
    public var isCancellationSupported: Bool { cell.checkedRoot.isCancellationSupported() }
}
