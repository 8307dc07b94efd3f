public import ByteStreams

/// The reason why a connection ended.
public enum CloseReason: Hashable, Sendable {
    /// This side closed the connection normally, and all written bytes were sent.
    case closed
    /// This side aborted the connection, for example because its handler failed.
    case aborted
    /// A draining server half-closed the connection, and then its handler wrote more, which the peer did not get.
    case cut
    /// A time limit of ``ByteStreams/StreamLimits`` passed. The associated value names the limit.
    case timedOut(StreamTimeLimit)
    /// This side closed the connection, but the queued bytes could not be sent before the deadline.
    case flushTimedOut
    /// This side closed the connection normally, but the peer did not acknowledge all bytes before the
    /// connection was closed.
    case unacknowledged
    /// The connection lingered (see ``ByteStreams/ByteStream/close(within:)``), and was reset because more than
    /// ``ByteStreams/StreamLimits/maxLingering`` connections lingered. This connection had lingered longest.
    case crowdedOut
    /// The peer had not completed its first message, and the server needed the place or the descriptor for another
    /// connection: see ``AcceptLimits/peersSpeakFirst``.
    case madeRoom
    /// More than ``ByteStreams/StreamLimits/writeCap`` bytes waited to be sent, because the peer did not take
    /// them.
    case backpressureExceeded
    /// The system reported an error, mostly ``SystemError/Code/connectionReset`` or ``SystemError/Code/brokenPipe``.
    case broken(SystemError.Code)
    /// Another cause ended the connection, for example the shutdown of the loop.
    case other
}

extension CloseReason: CustomStringConvertible {
    /// The reason as one word, suitable as the name of a counter.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .aborted: "aborted"
        case .cut: "cut"
        case .timedOut(let limit): limit.name
        case .flushTimedOut: "flushTimedOut"
        case .unacknowledged: "unacknowledged"
        case .crowdedOut: "crowdedOut"
        case .madeRoom: "madeRoom"
        case .backpressureExceeded: "backpressureExceeded"
        case .broken(let code): code.name
        case .other: "other"
        }
    }
}

extension SocketConnection {
    /// The reason why the connection ended. Meaningful only after the end.
    var closeReason: CloseReason {
        if wasCut { return .cut }
        // What ended the encrypted stream ended this one as well, which only was closed or aborted.
        if let failure = carried?.failure, let reason = CloseReason(of: failure) { return reason }
        if isAborted { return .aborted }
        guard let failure else { return .closed }
        return CloseReason(of: failure) ?? .other
    }
}

extension CloseReason {
    fileprivate init?(of failure: any Error) {
        switch failure {
        case StreamError.timedOut(let limit, _, _, _): self = .timedOut(limit)
        case StreamError.flushTimedOut: self = .flushTimedOut
        case StreamError.unacknowledged: self = .unacknowledged
        case StreamError.crowdedOut: self = .crowdedOut
        case StreamError.madeRoom: self = .madeRoom
        case StreamError.backpressureExceeded: self = .backpressureExceeded
        case let error as SystemError: self = .broken(error.code)
        default: return nil
        }
    }
}
