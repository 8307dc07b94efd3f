public import ByteStreams
internal import Futures

/// The reason why a connection ended.
public enum CloseReason: Hashable, Sendable {
    /// This side closed the connection normally, and everything written was sent.
    case closed
    /// This side aborted the connection, for example because its handler failed.
    case aborted
    /// One of the connection's time limits passed: ``ByteStreams/StreamLimits``.
    case timedOut(StreamTimeLimit)
    /// This side closed the connection, but the queued data could not be sent in time.
    case flushTimedOut
    /// This side closed the connection normally, but the peer did not acknowledge everything in time.
    case unacknowledged
    /// The connection lingered (see ``ByteStreams/ByteStream/close(within:)``), and was reset because more
    /// than ``ByteStreams/StreamLimits/maxLingering`` connections lingered.
    case crowdedOut
    /// Too much data waited to be sent, because the peer did not take it.
    case backpressureExceeded
    /// The system reported an error, in most cases ``UVError/Code/connectionReset`` or ``UVError/Code/brokenPipe``.
    case broken(UVError.Code)
    /// The loop was shut down, or another cause ended the connection.
    case other
}

extension CloseReason: CustomStringConvertible {
    /// The reason as one word, suitable as the name of a counter.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .aborted: "aborted"
        case .timedOut(let limit): limit.name
        case .flushTimedOut: "flushTimedOut"
        case .unacknowledged: "unacknowledged"
        case .crowdedOut: "crowdedOut"
        case .backpressureExceeded: "backpressureExceeded"
        case .broken(let code): code.name
        case .other: "other"
        }
    }
}

extension SocketConnection {
    /// The reason why the connection ended. Meaningful only after the end.
    var closeReason: CloseReason {
        guard let failure else { return isAborted ? .aborted : .closed }
        return switch failure {
        case StreamError.timedOut(let limit, _, _, _): .timedOut(limit)
        case StreamError.flushTimedOut: .flushTimedOut
        case StreamError.unacknowledged: .unacknowledged
        case StreamError.crowdedOut: .crowdedOut
        case StreamError.backpressureExceeded: .backpressureExceeded
        case let error as UVError: .broken(error.code)
        default: .other
        }
    }
}
