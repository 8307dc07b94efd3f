internal import Futures

/// The state that all streams of one loop share.
final class StreamState {
    let lingering = LingeringStreams()
    var limits = SharedLimits.Kept()
    /// The memory for writes that are gathered, while no stream gathers any. Rarely do two streams gather in one turn.
    var spareGathering: Gathering?
}

extension LoopCore {
    var streamState: StreamState {
        if let streams { return streams as! StreamState }
        let state = StreamState()
        streams = state
        return state
    }
}
