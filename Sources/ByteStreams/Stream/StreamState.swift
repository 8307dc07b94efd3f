internal import Futures

/// The state that all streams of one loop share.
final class StreamState {
    let lingering = LingeringStreams()
    var limits = SharedLimits.Kept()
}

extension LoopCore {
    var streamState: StreamState {
        if let streams { return streams as! StreamState }
        let state = StreamState()
        streams = state
        return state
    }
}
