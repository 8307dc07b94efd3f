internal import Futures

/// Says that connections cannot be taken for want of descriptors or memory: at most once a minute, to the observer of
/// the loop, and to whoever asked for it or to standard error.
final class ShortageReport {
    var handler: ((UVError) -> Void)?
    /// How often there was none.
    private(set) var count = 0
    private var limit = ReportLimit()

    func add(_ error: UVError, open: Int?, on loop: EventLoop) {
        count += 1
        guard limit.admits(at: loop.now) else { return }
        let connections = open.map { "\($0) connections are open, the others" } ?? "Connections"
        let text =
            "\(error). \(connections) wait in the system until there is room; it is tried again and again. Raise the "
            + "limit (ulimit -n, LimitNOFILE=), or lower maxConnections. Said once a minute at most."
        loop.tell(.warning(text))
        if let handler { handler(error) } else { StandardError.print(text) }
    }
}
