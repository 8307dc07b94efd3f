/// An error of a ``PipelinedClient``. It tells whether the server may have carried out the request.
public enum PipelineError: Error {
    /// The request was written, and the connection ended before the answer came. Nobody knows whether the server has carried
    /// out the request. `cause` says why the connection ended.
    case answerLost(cause: any Error)
    /// The request has not been written within `after`, the ``PipelineLimits/waitTimeout``. `cause` says why the last
    /// connection failed. It is `nil` if there is a connection, or the first one is still being made.
    case notSent(after: Duration, cause: (any Error)?)
    /// Too many requests already wait: `requests` of them, with `bytes` bytes in all. The request has not been written.
    case queueFull(requests: Int, bytes: Int)
    /// The server has not answered for `after`, the ``PipelineLimits/answerTimeout``, while requests were under way. The
    /// cause of an ``answerLost(cause:)``.
    case answerTimedOut(after: Duration)
    /// The connection was ended because a message came that answers no request.
    case unexpectedMessage
    /// The server has finished sending. The cause of an ``answerLost(cause:)``.
    case endedByServer
}

extension PipelineError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .answerLost(let cause):
            "the connection ended before the answer came, so it is not known whether the request was carried out: "
                + "\(cause); send it with mayRepeat: true if carrying it out twice does no harm"
        case .notSent(let limit, let cause):
            "the request was not sent within \(limit): "
                + (cause.map { "there is no connection: \($0)" } ?? "the server has not taken it")
                + "; look at the server, or raise PipelineLimits.waitTimeout"
        case .queueFull(let requests, let bytes):
            "the request was not sent, since \(requests) requests with \(bytes) bytes in all wait already; "
                + "wait for answers before the next one, or raise PipelineLimits.maxWaiting and "
                + "maxWaitingBytes"
        case .answerTimedOut(let limit):
            "the server did not answer for \(limit); if its requests take so long, raise PipelineLimits.answerTimeout"
        case .unexpectedMessage:
            "the server sent a message that answers no request; if it may, give the client a push closure "
                + "that returns true for such a message"
        case .endedByServer: "the server ended the connection"
        }
    }
}
