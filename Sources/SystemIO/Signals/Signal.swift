public import Futures
internal import Glibc

/// A signal of the operating system. A program may wait for such a signal.
public struct ProcessSignal: RawRepresentable, Hashable, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// `SIGTERM`: a request to end the program.
    public static let terminate = ProcessSignal(rawValue: SIGTERM)
    /// `SIGINT`: Ctrl-C was pressed.
    public static let interrupt = ProcessSignal(rawValue: SIGINT)
    /// `SIGHUP`: the terminal has been closed. For a daemon, a request to read the configuration again.
    public static let hangup = ProcessSignal(rawValue: SIGHUP)
    /// `SIGQUIT`: Ctrl-\ was pressed.
    public static let quit = ProcessSignal(rawValue: SIGQUIT)
    /// `SIGWINCH`: the size of the terminal's window has changed.
    public static let windowChange = ProcessSignal(rawValue: SIGWINCH)
    /// `SIGKILL`: ends a process, which cannot refuse. The signal can be sent, but not waited for.
    public static let kill = ProcessSignal(rawValue: SIGKILL)
    /// `SIGCONT`: lets a stopped process continue.
    public static let `continue` = ProcessSignal(rawValue: SIGCONT)
    /// `SIGSTOP`: stops a process, which cannot refuse. The signal can be sent, but not waited for.
    public static let stop = ProcessSignal(rawValue: SIGSTOP)
    /// `SIGUSR1`: a signal whose meaning the program chooses.
    public static let user1 = ProcessSignal(rawValue: SIGUSR1)
    /// `SIGUSR2`: a signal whose meaning the program chooses.
    public static let user2 = ProcessSignal(rawValue: SIGUSR2)
}

extension ProcessSignal {
    /// Throws `FutureError.invalidArgument` if the system has no such signal.
    func check() throws {
        try requireArgument((1...64).contains(rawValue), "a signal must be from 1 to 64, not \(rawValue)")
    }
}

extension EventLoop {
    /// Completes when the process next gets `signal`. While the returned future is pending, the signal has no
    /// other effect.
    ///
    /// To learn which of several signals came, call `loop.signals(.terminate, .interrupt).first()`. Its value is the signal.
    ///
    /// A pending future does not keep ``Futures/EventLoop/run()`` from returning. When the future has completed or is
    /// cancelled, as by `Future.race`, the signal's former effect is restored: by default, a second `SIGTERM` then ends the
    /// process. To go on catching the signal, iterate over ``signals(_:)``.
    ///
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` for signals that cannot be caught. Fails with the same error
    /// for `SIGCHLD`, which is reserved for the code that starts processes, and for the signals that the system raises for
    /// a fault, such as `SIGSEGV`: the fault would recur for ever. Fails with ``UVFutures/SystemError`` if the system
    /// refuses. Binds
    /// [`uv_signal_start_oneshot`](https://docs.libuv.org/en/v1.x/signal.html).
    public func signal(_ signal: ProcessSignal) -> Future<Void> {
        core.checkThread()
        return attempt {
            let handle = try catchSignal(signal, once: true)
            let promise = makePromise(of: Void.self)
            promise.isCalled("signal \(signal.rawValue)")
            // The promise fails only when the loop is shut down.
            promise.future.ignoreFailure()
            handle.onDelivery = { promise.succeed() }
            promise.onCancelRequest { [unowned handle] in
                handle.close()
                return .cancel
            }
            return promise.future
        }
    }
}
