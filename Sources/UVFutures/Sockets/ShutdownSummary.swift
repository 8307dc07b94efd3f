/// How the connections ended that were open when a server was shut down.
public struct ShutdownSummary: Hashable, Sendable {
    /// By themselves, within the grace.
    public var finished = 0
    /// By the server, after it.
    public var aborted = 0

    public init(finished: Int = 0, aborted: Int = 0) {
        self.finished = finished
        self.aborted = aborted
    }
}
