/// Failures that nobody will hear of, until the end of the turn, and how many have been printed lately.
final class UnhandledFailures {
    static let linesPerSecond = 10

    var handler: ((any Error) -> Void)?
    fileprivate var errors: [any Error] = []
    fileprivate var secondStarted: UInt64 = 0
    fileprivate var printed = 0
    fileprivate var omitted = 0
    /// Whether there are `errors`, and whether some are `omitted`. Each turn asks.
    fileprivate(set) var isPending = false
    fileprivate var hasOmitted = false
    /// The loop has ended, and calls nobody any more.
    fileprivate(set) var isOver = false
}

extension EventLoop {
    func reportUnhandled(_ error: any Error) {
        // Whoever shuts the loop down knows that what was pending fails.
        if isShutDown, error as? FutureError == .shutDown { return }
        unhandled.errors.append(error)
        unhandled.isPending = true
        requestTurn()
    }

    @inline(__always)
    func reportUnhandledFailures() {
        if unhandled.isPending || unhandled.hasOmitted { report() }
    }

    private func report() {
        let errors = unhandled.errors
        unhandled.errors = []
        unhandled.isPending = false
        if unhandled.handler == nil, driver.now - unhandled.secondStarted >= 1_000_000_000 {
            printOmitted()
            unhandled.secondStarted = driver.now
            unhandled.printed = 0
        }
        for error in errors {
            if isObserved { tell(.unhandledFailure(error)) }
            if let handler = unhandled.handler {
                handler(error)
            } else if unhandled.printed < UnhandledFailures.linesPerSecond {
                unhandled.printed += 1
                StandardError.print("Unhandled failure of a future: \(error)")
            } else {
                unhandled.omitted += 1
                unhandled.hasOmitted = true
            }
        }
    }

    /// The loop has ended: from now on it calls nobody.
    func releaseHandlers() {
        reportUnhandledFailures()
        unhandled.isOver = true
        let handlers = (unhandled.handler, observer, slowCallbacks)
        unhandled.handler = nil
        observer = nil
        slowCallbacks = nil
        // What they held may fail a future as it goes.
        withExtendedLifetime(handlers) {}
    }

    /// Says how many failures were left out: with the first turn after a second, or at the end of a run.
    func printOmitted() {
        guard unhandled.omitted > 0 else { return }
        StandardError.print("Unhandled failures of futures, not printed: \(unhandled.omitted)")
        unhandled.omitted = 0
        unhandled.hasOmitted = false
    }
}
