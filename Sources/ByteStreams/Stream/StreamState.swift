internal import Futures

/// The state that all streams of one loop share.
final class StreamState {
    let lingering = LingeringStreams()
    var limits = SharedLimits.Kept()
    /// The scopes of streams, by the stream. Few streams have one.
    var scopes: [ObjectIdentifier: StreamScope] = [:]
}

extension LoopCore {
    var streamState: StreamState {
        // Set here alone. A checked cast would often take longer than the use of the state.
        if let streams { return unsafe unsafeDowncast(streams, to: StreamState.self) }
        let state = StreamState()
        streams = state
        return state
    }
}
