import Logging
import Metrics
import UVFutures

extension EventLoop {
    /// Feeds swift-log and swift-metrics with what happens on the loop, as an observer does.
    func observe(logger: Logger) {
        let turns = Metrics.Timer(label: "loop_turn")
        let lag = Metrics.Timer(label: "loop_lag")
        let callbacks = Counter(label: "loop_callbacks")
        let opened = Counter(label: "connections_opened")
        let closed = Counter(label: "connections_closed")
        let broken = Counter(label: "connections_broken")
        observe { event in
            switch event {
            case .turnEnded(let duration, let count, let late):
                turns.record(duration: duration)
                lag.record(duration: late)
                callbacks.increment(by: count)
            case .opened(let what):
                if !(what is ListeningSocket) { opened.increment() }
                logger.info("opened", metadata: ["what": "\(what)"])
            case .closed(let what, let failure):
                if !(what is ListeningSocket) { closed.increment() }
                if failure != nil { broken.increment() }
                let metadata: Logger.Metadata = [
                    "what": "\(what)", "failure": "\(failure.map { "\($0)" } ?? "none")",
                ]
                logger.info("closed", metadata: metadata)
            case .warning(let text): logger.warning("\(text)")
            case .unhandledFailure(let error): logger.error("unhandled failure: \(error)")
            }
        }
    }
}
