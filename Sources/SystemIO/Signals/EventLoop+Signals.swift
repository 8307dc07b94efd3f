internal import CFuturesSystem
public import Futures
internal import Glibc

extension EventLoop {
    /// Returns a sequence that yields each signal of `signals` when the process gets it:
    /// `for try await signal in loop.signals(.terminate, .hangup)`. From the start of the iteration to its end,
    /// these signals have no other effect.
    ///
    /// If a signal arrives while the consumer is busy, the sequence keeps the signal until the consumer asks for the
    /// next element. If the same signal arrives several times before that, the consumer gets it once. The iteration
    /// throws the errors of ``signal(_:)``. Binds [`uv_signal_start`](https://docs.libuv.org/en/v1.x/signal.html).
    public func signals(_ signals: ProcessSignal...) -> LoopSequence<ProcessSignal> {
        LoopSequence(on: core) { [core] in
            let handles: [any SignalWatch]
            do {
                handles = try core.catchSignals(signals)
            } catch {
                return LoopSequence.AsyncIterator(next: { core.failed(error) })
            }
            let queue = ElementQueue<ProcessSignal>(on: core)
            for (handle, signal) in zip(handles, signals) {
                handle.onDelivery = {
                    if !queue.contains(where: { $0 == signal }) { queue.add(core.succeeded(signal)) }
                }
            }
            return LoopSequence.AsyncIterator(asking: queue, on: core, next: queue.next) {
                queue.finish()
                for handle in handles { handle.close() }
            }
        }
    }

    /// Catches `signals` until their handles are closed. If one of the signals is refused, catches none and
    /// throws.
    func catchSignals(_ signals: [ProcessSignal]) throws -> [any SignalWatch] {
        var handles: [any SignalWatch] = []
        do {
            for signal in signals { handles.append(try catchSignal(signal, once: false)) }
        } catch {
            for handle in handles { handle.close() }
            throw error
        }
        return handles
    }

    /// Catches `signal` until the handle is closed. If `once` is `true`, only until the signal has been
    /// delivered once.
    func catchSignal(_ signal: ProcessSignal, once: Bool) throws -> any SignalWatch {
        guard !core.isShutDown else { throw FutureError.shutDown }
        try signal.check()
        try requireArgument(
            ![SIGKILL, SIGSTOP, SIGCHLD].contains(signal.rawValue),
            "signal \(signal.rawValue) cannot be waited for: no program can catch SIGKILL or SIGSTOP, "
                + "and SIGCHLD is for the code that starts processes; give another signal")
        // The signals that Linux calls synchronous. The fault would recur each time a handler returns.
        try requireArgument(
            ![SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS].contains(signal.rawValue),
            "signal \(signal.rawValue) reports a fault in the program itself, and cannot be waited for; "
                + "leave it to the system")
        return try system.catchSignal(signal.rawValue, once: once)
    }
}
