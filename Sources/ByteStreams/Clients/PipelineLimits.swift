internal import Futures

/// The limits of a ``PipelinedClient``.
public struct PipelineLimits: Sendable {
    /// The largest number of requests that are under way: they have been written, and their answers have not come. Further
    /// requests wait.
    public var maxUnderWay = 1024
    /// The largest number of requests that wait, because there is no connection or too many are under way. A further request
    /// fails with ``PipelineError/queueFull(requests:bytes:)``.
    public var maxWaiting = 10_000
    /// The largest number of bytes of all requests that wait. A further request fails with
    /// ``PipelineError/queueFull(requests:bytes:)``.
    public var maxWaitingBytes = 16 << 20
    /// The longest time for which a request waits until it is written.
    public var waitTimeout: Duration? = .seconds(30)
    /// The longest time for which requests are under way and no answer comes. After it, the connection is broken with
    /// ``PipelineError/answerTimedOut(after:)``. Set this to `nil` for requests that wait at the server.
    public var answerTimeout: Duration? = .seconds(30)
    /// The longest time that the greeting of a new connection may take.
    public var greetingTimeout: Duration? = .seconds(10)
    /// The largest number of times that a request is written, if it may be repeated.
    public var maxAttempts = 3

    public init() {}

    func validate() throws {
        try requireArgument(
            maxUnderWay > 0 && maxAttempts > 0,
            "maxUnderWay and maxAttempts must be at least 1, not \(maxUnderWay) and \(maxAttempts)")
        try requireArgument(
            maxWaiting >= 0 && maxWaitingBytes >= 0,
            "maxWaiting and maxWaitingBytes must be at least 0, not \(maxWaiting) and \(maxWaitingBytes)")
        for case (let name, let duration?) in [
            ("waitTimeout", waitTimeout), ("answerTimeout", answerTimeout),
            ("greetingTimeout", greetingTimeout),
        ] {
            try requireArgument(
                duration > .zero,
                "\(name) must be positive, not \(duration); give nil for no limit")
        }
    }
}
