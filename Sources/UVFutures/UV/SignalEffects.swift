internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc

/// The effects that watched signals had before. After the last watch of a signal, libuv itself would restore
/// only the default effect.
enum SignalEffects {
    private struct Watched {
        var count = 0
        /// The former effect. `nil` if libuv restores it: that was the default effect, or libuv's own handler, because a
        /// host watches the signal.
        var before: sigaction?
    }

    private struct State {
        var signals: [CInt: Watched] = [:]
        /// libuv's effect of the signals with a keeper.
        var kept: [CInt: sigaction] = [:]
    }

    private static let state = Locked(State())

    /// Notes that the process has a loop of a host.
    static func hasHost() { state.withLock { _ in unsafe SignalKeeper.hasHost = true } }

    /// Calls `start`, which makes libuv catch signal `number`, and returns the status of libuv. `isOnly` is `true` if
    /// libuv is to restore the effect, and nobody else watches the signal. Only then may libuv set a handler for a
    /// single delivery. As long as a watch for a single delivery has not been told of it, libuv does not set the
    /// handler again.
    static func start(_ number: CInt, _ start: (_ isOnly: Bool) -> CInt) -> CInt {
        state.withLock { state in
            let before = effect(of: number)
            let isRestored = before.handler != 0 || state.kept[number] != nil
            var watched = state.signals[number] ?? Watched(before: isRestored ? before : nil)
            let status = start(watched.count == 0 && watched.before == nil)
            guard status == 0 else { return status }
            if watched.count == 0, watched.before != nil {
                if var own = state.kept[number] {
                    unsafe sigaction(number, &own, nil)
                } else if effect(of: number).handler == before.handler {
                    watched.before = nil
                } else if SignalKeeper.keep(number) {
                    state.kept[number] = effect(of: number)
                }
            }
            watched.count += 1
            state.signals[number] = watched
            return 0
        }
    }

    /// Calls `stop`, which makes libuv stop catching the signal. After the last watch, restores the former
    /// effect.
    static func stop(_ number: CInt, _ stop: () -> Void) {
        state.withLock { state in
            var watched = state.signals[number]!
            watched.count -= 1
            state.signals[number] = watched.count == 0 ? nil : watched
            guard watched.count == 0, var before = watched.before else { return stop() }
            if let own = state.kept[number] {
                // Restores nothing if other code has set an effect of its own meanwhile.
                if effect(of: number).handler == own.handler { unsafe sigaction(number, &before, nil) }
                return stop()
            }
            // Without the block, a signal between the two calls would have the default effect on this thread.
            withBlocked(number) {
                stop()
                if effect(of: number).handler == 0 { unsafe sigaction(number, &before, nil) }
            }
        }
    }

    private static func withBlocked(_ number: CInt, _ body: () -> Void) {
        var (one, mask) = (sigset_t(), sigset_t())
        unsafe sigaddset(&one, number)
        unsafe pthread_sigmask(SIG_BLOCK, &one, &mask)
        body()
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}

extension sigaction {
    /// The address of the handler: 0 for the default effect, 1 if the signal is ignored.
    var handler: UInt { unsafe unsafeBitCast(__sigaction_handler.sa_handler, to: UInt.self) }
}

/// Returns the effect of the signal in this process.
func effect(of signal: CInt) -> sigaction {
    var action = sigaction()
    unsafe sigaction(signal, nil, &action)
    return action
}
