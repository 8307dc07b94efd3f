public import ByteStreams
internal import Futures

/// The reason why a connection ended.
public enum CloseReason: Hashable, Sendable {
    /// This side closed it in order, and everything written was sent.
    case closed
    /// This side aborted it, for example because its handler failed.
    case aborted
    /// A time limit of its ``ByteStreams/StreamLimits`` passed.
    case timedOut(StreamTimeLimit)
    /// What was queued when it was closed could not be sent in time.
    case flushTimedOut
    /// It was closed in order, but the peer did not acknowledge everything in that time.
    case unacknowledged
    /// It lingered while more than ``ByteStreams/StreamLimits/maxLingering`` connections did.
    case crowdedOut
    /// The peer left too much data waiting.
    case backpressureExceeded
    /// The system reported an error: mostly ``UVError/Code/connectionReset`` or ``UVError/Code/brokenPipe``.
    case broken(UVError.Code)
    /// The loop was shut down, or something else ended it.
    case other
}

extension CloseReason: CustomStringConvertible {
    /// The reason as one word, fit for the name of a counter.
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
    /// The reason why it ended; meaningful only after the end.
    var closeReason: CloseReason {
        guard let breakage else { return isAborted ? .aborted : .closed }
        return switch breakage {
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
