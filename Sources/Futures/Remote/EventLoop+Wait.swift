extension EventLoop {
    /// Runs `body` on the loop, and blocks the calling thread until the future that `body` returned has
    /// completed. Returns the value of that future or throws its error. If the future is cancelled, throws a
    /// `CancellationError`.
    ///
    /// Throws ``FutureError/timedOut(after:)`` when `timeout` has passed in real time. The future is then
    /// asked to cancel, unless other code waits for it. If `timeout` is `nil` and no thread runs the loop,
    /// the wait never ends. Throws ``FutureError/invalidArgument(_:)`` if `timeout` is negative.
    ///
    /// The wait does not keep ``run()`` from returning. If ``run()`` returns because nothing is left to do,
    /// this call throws ``FutureError/stalled``. Throws ``FutureError/shutDown`` if the loop has been shut
    /// down. Traps on the loop's own thread.
    ///
    /// ```swift
    /// Thread.detachNewThread { [loop] in
    ///     let found = try? loop.wait(timeout: .seconds(5)) { loop.addresses(of: "example.org", port: 443) }
    ///     print(found?.first?.host ?? "no address")
    /// }
    /// ```
    @available(*, noasync, message: "It would block a thread that tasks share; use try await loop.run { … }.")
    public func wait<Value: Sendable>(
        timeout: Duration? = nil, _ body: @escaping @Sendable () throws -> Future<Value>
    ) throws -> Value {
        if isCurrent { Misuse.waitOnLoop() }
        if let timeout, timeout.wholeNanoseconds == nil {
            throw FutureError.invalidArgument("a timeout of \(timeout) is negative; give zero or more")
        }
        let (id, outcome) = (core.newRemoteID(), BlockingValue<Result<Value, any Error>>())
        let accepted = execute { [core] in
            do {
                core.addWaiter(id, for: try body(), endsWithRun: true) { outcome.set($0) }
            } catch {
                outcome.set(.failure(error))
            }
        }
        guard accepted else { throw FutureError.shutDown }
        guard let result = outcome.wait(nanoseconds: timeout?.wholeNanoseconds) else {
            core.endRemote(id, with: CancellationError())
            throw FutureError.timedOut(after: timeout!)
        }
        return try result.get()
    }
}
