internal import CFuturesSystem
public import Futures
internal import Glibc

/// The communication of a service with systemd. Any thread may call these functions, but no other code should change
/// the environment at the same time.
public enum Systemd {
    /// Returns the sockets that systemd, or another program with the same protocol, has opened for this process. Empty
    /// if there are none.
    ///
    /// The caller owns the sockets. To hand over a socket to a server, pass it to ``SocketServer/listen(on:limits:)``.
    /// This function removes the variables of the protocol from the environment. So a second call returns an empty
    /// array, and programs that this process starts find no sockets. Those programs do not inherit the descriptors.
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the variables are malformed, or are meant for another
    /// process. Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    ///
    /// ```swift
    /// for socket in try Systemd.sockets() { try server.listen(on: socket) }
    /// ```
    public static func sockets() throws -> [ActivatedSocket] {
        let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(EnvironmentVariable.init)
        let values = variables.map(\.value)
        let sockets = try ActivatedSocket.parse(
            process: values[0], count: values[1], names: values[2], ownProcess: getpid())
        for variable in variables { variable.remove() }
        for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
        return sockets
    }

    /// A state that a service can report to the service manager.
    public enum State: Hashable, Sendable {
        /// The service has started, and serves its clients.
        case ready
        /// The service has begun to shut down.
        case stopping
        /// The service is alive. Report this state at least once in each ``Systemd/watchdogInterval``.
        case watchdog
        /// The current work of the service, in one line of text for people.
        case status(String)
    }

    /// Reports states of this service to the service manager. Returns `false` if `NOTIFY_SOCKET` is not set, which
    /// means that no service manager expects reports.
    ///
    /// Does not block. Sends to the socket in `NOTIFY_SOCKET`, as `sd_notify` does. Throws ``SystemError`` if no
    /// service manager listens at that socket. Throws ``Futures/FutureError/invalidArgument(_:)`` if a status
    /// contains a control character such as a line feed, or if the name of the socket is malformed.
    @discardableResult
    public static func notify(_ states: State...) throws -> Bool {
        let lines = try states.map { try $0.line }
        guard let name = EnvironmentVariable(name: "NOTIFY_SOCKET").value else { return false }
        try send(lines.joined(separator: "\n"), toNotifySocket: name)
        return true
    }

    /// The longest time that the service manager allows between two ``Systemd/State/watchdog`` reports, or
    /// `nil` if the service manager expects no such reports.
    ///
    /// Reads `WATCHDOG_USEC` and `WATCHDOG_PID`. Throws ``Futures/FutureError/invalidArgument(_:)`` if
    /// `WATCHDOG_USEC` is not a number above zero.
    public static var watchdogInterval: Duration? {
        get throws {
            guard let text = EnvironmentVariable(name: "WATCHDOG_USEC").value else { return nil }
            if let process = EnvironmentVariable(name: "WATCHDOG_PID").value, process != "\(getpid())" {
                return nil
            }
            guard let number = text.decimal, number > 0 else {
                throw FutureError.invalidArgument(
                    "WATCHDOG_USEC must be a number above zero, not \"\(text)\"")
            }
            return .microseconds(number)
        }
    }

    /// Sends ``Systemd/State/watchdog`` reports from `loop`, two in each ``watchdogInterval``. If the loop
    /// hangs, the reports stop, and the service manager notices that. To stop the reports, cancel the
    /// returned task. Returns `nil` if the service manager expects no such reports.
    ///
    /// The returned task does not keep ``Futures/EventLoop/run()`` from returning. If a report cannot be sent,
    /// the observer of the loop gets a warning, and the reports continue. Throws the errors of
    /// ``watchdogInterval``.
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
                try requireArgument(
                    !text.utf8.contains { $0 < 32 },
                    "the status \(text.debugDescription) holds a control character; give one line of text")
                return "STATUS=\(text)"
            }
        }
    }
}
