internal import Futures
internal import Glibc

/// The effects that watched signals had before. After the last watch of a signal, libuv itself would restore
/// only the default effect.
enum SignalEffects {
    private struct Watched {
        var count = 0
        /// The former effect. `nil` if that was the default effect.
        var before: sigaction?
    }

    private static let signals = Locked<[CInt: Watched]>([:])

    /// Calls `start`, which makes libuv catch signal `number`, and returns the status of libuv. `hadEffect`
    /// is `true` if the signal had an effect that has to be restored.
    static func start(_ number: CInt, _ start: (_ hadEffect: Bool) -> CInt) -> CInt {
        signals.withLock { signals in
            let before = effect(of: number)
            var watched = signals[number] ?? Watched(before: before.handler == 0 ? nil : before)
            let status = start(watched.before != nil)
            guard status == 0 else { return status }
            // The effect was libuv's handler already, because a host watches the signal. There is nothing to
            // restore.
            if watched.count == 0, effect(of: number).handler == before.handler { watched.before = nil }
            watched.count += 1
            signals[number] = watched
            return 0
        }
    }

    /// Calls `stop`, which makes libuv stop catching the signal. After the last watch, restores the former
    /// effect.
    static func stop(_ number: CInt, _ stop: () -> Void) {
        signals.withLock { signals in
            var watched = signals[number]!
            watched.count -= 1
            signals[number] = watched.count == 0 ? nil : watched
            guard watched.count == 0, var before = watched.before else { return stop() }
            // Without the block, a signal between the two calls would have the default effect.
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
