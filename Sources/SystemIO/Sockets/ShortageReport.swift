internal import CFuturesSystem
internal import Futures
internal import Glibc

/// The reports that connections cannot be accepted, mostly for lack of descriptors or memory. There is at
/// most one report a minute. It goes to the observer of the loop, and to the handler. Without a handler, it
/// goes to standard error.
final class ShortageReport {
    var handler: ((SystemError) -> Void)?
    /// The number of times that a connection could not be accepted.
    private(set) var count = 0
    private var limit = ReportLimit()

    func add(_ error: SystemError, open: Int?, on loop: EventLoop) {
        count += 1
        guard limit.admits(at: loop.core.clock) else { return }
        let connections = open.map { "\($0) connections are open, the others" } ?? "Connections"
        let text =
            "\(error). \(connections) wait in the system, and are accepted as soon as possible. "
            + "\(error.acceptAdvice) Reported at most once a minute."
        loop.core.tell(.warning(text))
        if let handler { handler(error) } else { StandardError.print(text) }
    }
}

extension SystemError {
    /// Advice on connections that cannot be accepted.
    var acceptAdvice: String {
        switch code.rawValue {
        case -EMFILE: "Raise the limit of the process (ulimit -n, LimitNOFILE=), or lower maxConnections."
        case -ENFILE: "Raise the limit of the machine (fs.file-max), or lower maxConnections."
        case -ENOMEM, -ENOBUFS:
            "Lower maxConnections, or give the machine or the service (MemoryMax=) more memory."
        case -EPERM, -EACCES: "Look at the rules of firewalls and of security modules, which refuse them."
        default: "The cause is not a lack of descriptors or memory; look at the system's log."
        }
    }
}
