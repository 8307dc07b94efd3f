/// The failures that nothing will see, until the end of the turn. Also counts the lines that were printed in
/// the last second.
final class UnhandledFailures {
    static let linesPerSecond = 10

    var handler: ((any Error) -> Void)?
    var held = HeldFailures()
    /// Whether the exit of the process reports what is held.
    var isWatchedAtExit = false
    fileprivate var failures: [(error: any Error, subject: Subject)] = []
    /// The name of the step that was last asked for it.
    fileprivate var verb: String?
    fileprivate var secondStarted: UInt64 = 0
    fileprivate var printed = 0
    fileprivate var omitted = 0
    /// Whether there are `failures`. Stored, since each turn reads it.
    fileprivate(set) var isPending = false
    /// Whether the loop has ended. An ended loop calls no handler.
    fileprivate(set) var isOver = false

    /// The object that has failed.
    fileprivate struct Subject {
        let name: String?
        /// The calls that made the future.
        var callers: Callers?

        /// Returns the line to print for a failure with `error`.
        func line(_ error: any Error) -> String {
            var text = "Unhandled failure of \(name ?? "a future")"
            // The text of a broken promise has this place already.
            let hasPlace = if name == nil, case .brokenPromise = error as? FutureError { true } else { false }
            if !hasPlace, let place = callers?.place { text += " made at \(place)" }
            return "\(text): \(error)"
        }
    }
}

extension CellPointer {
    /// Reports `error` at the end of the turn, as a failure of `subject`. If `subject` is `nil`, names the
    /// function that made this future.
    func reportUnhandled(_ error: any Error, of subject: String? = nil) {
        let loop = loop
        loop.report(error, of: UnhandledFailures.Subject(name: subject ?? verb, callers: object.callers))
    }

    /// The name of the method that made the step of this cell. `nil` if that is not known.
    var verb: String? {
        withLoop { $0.unhandled.verb = nil }
        behavior(.name, self, self)
        return withLoop { $0.unhandled.verb }
    }

    @usableFromInline func isCalled(_ verb: String?) { withLoop { $0.unhandled.verb = verb } }
}

extension LoopCore {
    /// Reports `error` at the end of the turn, as a failure of `subject`.
    package func reportUnhandled(_ error: any Error, of subject: String) {
        report(error, of: UnhandledFailures.Subject(name: subject))
    }

    fileprivate func report(_ error: any Error, of subject: UnhandledFailures.Subject) {
        // Not reported: whoever shuts the loop down expects that pending futures fail.
        if isShutDown, error.meansShutDown { return }
        unhandled.failures.append((error, subject))
        unhandled.isPending = true
        requestTurn()
    }

    @inline(__always)
    func reportUnhandledFailures() { if unhandled.isPending || unhandled.omitted > 0 { report() } }

    private func report() {
        let failures = exchange(&unhandled.failures, with: [])
        unhandled.isPending = false
        if unhandled.handler == nil, clock - unhandled.secondStarted >= 1_000_000_000 {
            printOmitted()
            unhandled.secondStarted = clock
            unhandled.printed = 0
        }
        for (error, subject) in failures {
            if isObserved { tell(.unhandledFailure(error)) }
            if let handler = unhandled.handler {
                handler(error)
            } else if unhandled.printed < UnhandledFailures.linesPerSecond {
                unhandled.printed += 1
                StandardError.print(subject.line(error))
            } else {
                unhandled.omitted += 1
            }
        }
    }

    /// Releases all handlers, since a loop that has ended calls no handler.
    func releaseHandlers() {
        reportHeldFailures()
        unhandled.isOver = true
        blockedWatch.take()?.end()
        // Objects that the handlers hold may fail futures when they are released.
        let observing = exchange(&observers, with: []).map { $0.end() }
        let handlers = (unhandled.handler.take(), observing, slowCallbacks.take())
        withExtendedLifetime(handlers) {}
    }

    /// Prints the number of failures that were not printed. Called in the first turn after a second has
    /// passed, and at the end of a run.
    func printOmitted() {
        guard unhandled.omitted > 0 else { return }
        StandardError.print("Unhandled failures of futures, not printed: \(unhandled.omitted)")
        unhandled.omitted = 0
    }
}

extension Error {
    /// Whether the error says only that the loop has been shut down. For a `CleanUpError`, both errors have
    /// to say so.
    fileprivate var meansShutDown: Bool {
        guard let error = self as? CleanUpError else { return self as? FutureError == .shutDown }
        return error.error.meansShutDown && error.cleanUpError.meansShutDown
    }
}
