extension Future {
    /// Starts `work`, disposes of what it returns when the future ends, and passes this outcome on.
    ///
    /// The loop starts `work`, when `delay` has passed if one is given. It does not start `work` if the future has
    /// completed or been cancelled before. A cancelled `token` ends the returned future alone. Fails with
    /// ``FutureError/invalidArgument(_:)`` if `delay` is negative.
    ///
    /// ```swift
    /// let page = fetch("index").whilePending(delayBy: .milliseconds(300)) {
    ///     let dots = loop.repeat(every: .milliseconds(100)) { print(".", terminator: "") }
    ///     return Disposer { dots.cancel() }
    /// }
    /// ```
    public func whilePending(
        delayBy delay: Duration? = nil, on context: LocalContext = .default,
        token: CancellationToken = .none, _ work: @escaping () -> any Disposable
    ) -> Future<Value> {
        let loop = loop
        if let delay, delay < .zero { return loop.failed(FutureError.negativeDuration(delay)) }
        let bag = DisposeBag()
        let child = until(token, cancellingSource: false).onEnd(bag.dispose)
        guard !child.isCompleted else { return child }
        let start = { bag.add(work()) }
        let starting =
            if let delay {
                loop.schedule(after: delay, keepsLoopAlive: false, on: context, start).future
            } else {
                loop.submit(on: context, start)
            }
        bag.add(starting)
        return child
    }
}
