extension Future {
    /// Calls `work` once while this future is pending, and passes on the outcome of this future. When the
    /// returned future ends, disposes of the object that `work` returned.
    ///
    /// The loop calls `work` on `context` when `delay` has passed. If `delay` is `nil`, the loop calls `work`
    /// as soon as `context` allows. If this future completes or is cancelled before the call, `work` is not
    /// called. If `token` is cancelled, the returned future is cancelled, and this future continues. If
    /// `delay` is negative, the returned future fails with ``FutureError/invalidArgument(_:)``.
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
