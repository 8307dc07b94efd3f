public import Futures
internal import Glibc

/// What a service gets from systemd, and tells it. Any thread, but for the environment: nobody else should change
/// that meanwhile.
public enum Systemd {
    /// The sockets that systemd, or whoever speaks its protocol, has opened for this process: empty if there are none.
    ///
    /// They are the caller's: hand each to ``SocketServer/listen(on:limits:)``. The variables that say so are removed
    /// from the environment, so there are none the next time and in programs that this process starts; nor are the
    /// descriptors passed on to those.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if the variables make no sense, or are meant for another
    /// process. Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    public static func sockets() throws -> [ActivatedSocket] {
        let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(EnvironmentVariable.init)
        let values = variables.map(\.value)
        let sockets = try ActivatedSocket.parse(
            process: values[0], count: values[1], names: values[2], ownProcess: getpid())
        for variable in variables { variable.remove() }
        for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
        return sockets
    }

    /// What a service can tell the manager of services.
    public enum State: Hashable, Sendable {
        /// It has started, and serves.
        case ready
        /// It has begun to end.
        case stopping
        /// It is alive: to be said as often as ``Systemd/watchdogInterval`` asks.
        case watchdog
        /// What it does, in one line for people.
        case status(String)
    }

    /// Tells the manager of services how this one is. `false` if nobody wants to know.
    ///
    /// Does not block. Fails with ``UVError`` if nobody listens there, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if a status has several lines, or the name of the manager's socket
    /// makes no sense. Sends to `NOTIFY_SOCKET`, as `sd_notify` does.
    @discardableResult
    public static func notify(_ states: State...) throws -> Bool {
        let lines = try states.map { try $0.line }
        guard let name = EnvironmentVariable(name: "NOTIFY_SOCKET").value else { return false }
        try NotifySocket(name).send(lines.joined(separator: "\n"))
        return true
    }

    /// How often at least the manager expects to hear ``Systemd/State/watchdog``; `nil` if it does not.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if that is no number above zero.
    /// Reads `WATCHDOG_USEC` and `WATCHDOG_PID`.
    public static var watchdogInterval: Duration? {
        get throws {
            guard let text = EnvironmentVariable(name: "WATCHDOG_USEC").value else { return nil }
            if let process = EnvironmentVariable(name: "WATCHDOG_PID").value, process != "\(getpid())" {
                return nil
            }
            guard let number = text.decimal, number > 0 else {
                throw FutureError.invalidArgument(
                    "WATCHDOG_USEC is \"\(text)\", which is no number above zero")
            }
            return .microseconds(number)
        }
    }

    /// Tells the manager that `loop` turns, twice in each ``watchdogInterval``; `nil` if it does not expect that.
    ///
    /// Does not keep the loop alive. A message that does not get through is left out, with a warning to the observer
    /// of the loop.
    /// Fails as ``watchdogInterval`` does.
    @discardableResult
    public static func feedWatchdog(on loop: EventLoop) throws -> ScheduledTask<Void>? {
        guard let interval = try watchdogInterval else { return nil }
        var limit = ReportLimit()
        return loop.repeat(every: interval / 2, pace: .fixedRate, keepsLoopAlive: false) {
            [unowned core = loop.core] in
            do {
                try notify(.watchdog)
            } catch  where core.isObserved && limit.admits(at: core.clock) {
                core.tell(.warning("the watchdog of systemd could not be fed: \(error)"))
            } catch {}
        }
    }
}

extension Systemd.State {
    var line: String {
        get throws {
            switch self {
            case .ready: return "READY=1"
            case .stopping: return "STOPPING=1"
            case .watchdog: return "WATCHDOG=1"
            case .status(let text):
                guard !text.utf8.contains(where: { $0 < 32 }) else {
                    throw FutureError.invalidArgument(
                        "the status \(text.debugDescription) holds a control character; give one line of text"
                    )
                }
                return "STATUS=\(text)"
            }
        }
    }
}
