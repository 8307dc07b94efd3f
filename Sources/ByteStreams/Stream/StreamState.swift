internal import Futures

/// The state that all streams of one loop share.
final class StreamState {
    let lingering = LingeringStreams()
    var limits = SharedLimits.Kept()
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
