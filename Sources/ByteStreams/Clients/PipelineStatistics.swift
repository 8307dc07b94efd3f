/// A snapshot of what a ``PipelinedClient`` has done.
public struct PipelineStatistics: Hashable, Sendable {
    /// The number of connections that were made and greeted, and of attempts that failed.
    public var connects = 0
    public var failedConnects = 0
    /// The number of answers that have come, including those to requests that were cancelled.
    public var answers = 0
    /// The number of messages that the client's `push` closure has taken.
    public var pushes = 0
    /// The number of times that a request was put back, to be written again on the next connection.
    public var repeats = 0
    /// The number of requests that failed with ``PipelineError/answerLost(cause:)``.
    public var lost = 0
    /// The number of requests that failed with another error, and so were not written.
    public var unsent = 0
    /// The number of requests that are under way now, including those that were cancelled after they were written.
    public var underWay = 0
    /// The numbers of requests that wait now, and of their bytes.
    public var waiting = 0
    public var waitingBytes = 0
}
