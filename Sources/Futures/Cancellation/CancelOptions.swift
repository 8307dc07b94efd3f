/// The options for how far a request to cancel goes, and what it does there.
public struct CancelOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The option to cancel even if others wait for this future or for futures upstream. The others are then cancelled
    /// too.
    public static let evenIfOthersWaiting = CancelOptions(rawValue: 1)
    /// The option to ask nobody upstream: this future only stops waiting.
    public static let doNotForward = CancelOptions(rawValue: 2)
    /// The option to cancel this future now, even if a producer answers that the work goes on. The outcome of the work
    /// is then dropped.
    public static let immediately = CancelOptions(rawValue: 4)
    /// The option to ask only a producer that handles requests, and to do nothing if there is none.
    public static let ifSupported = CancelOptions(rawValue: 8)

    /// The depth to which handlers of requests that cancel each other's futures may be nested.
    public static let depthLimit = 20
}

extension Future {
    /// Asks for the future to be cancelled, like ``cancel()``, but in the way that `options` describe.
    ///
    /// Returns `false` if the future has completed or, with ``CancelOptions/ifSupported``, if nobody answers. Also
    /// returns `false` if somebody waits for it, unless ``CancelOptions/evenIfOthersWaiting`` is given.
    ///
    /// ```swift
    /// future.cancel([.evenIfOthersWaiting, .immediately])    // Whoever else waits is cancelled too.
    /// ```
    @discardableResult
    public func cancel(_ options: CancelOptions) -> Bool { cell.requestCancellation(options) }

    /// Whether a request to cancel this future would reach something that answers it: the handler of a promise, a
    /// timer, or a group. `false` if the future has completed.
    public var isCancellationSupported: Bool { cell.checkedRoot.isCancellationSupported() }
}
