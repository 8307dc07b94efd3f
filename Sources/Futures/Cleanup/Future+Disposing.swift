extension Future {
    /// A future that `body` completes by the promise, and a clean-up that `body` returns.
    ///
    /// `body` runs once, at once; what it throws fails the future. The clean-up is disposed of exactly once: within
    /// the call that completes or cancels the future, before anybody hears of that, or after `body` if that has
    /// completed it. It must not hold the promise, which could then not be dropped. A promise that is dropped
    /// uncompleted fails the future with ``FutureError/brokenPromise(file:line:)``.
    public init<CleanUp: Disposable>(
        on loop: EventLoop, file: StaticString = #fileID, line: UInt = #line,
        _ body: (_ promise: Promise<Value>) throws -> CleanUp
    ) {
        let promise = loop.makePromise(of: Value.self, file: file, line: line)
        do {
            let disposable = try body(promise)
            self = promise.future.onEnd { disposable.dispose() }
        } catch {
            promise.fail(error)
            self = promise.future
        }
    }

    /// A future that `body` completes by the promise, which it may hand to a callback API by one of its `resolve`s.
    ///
    /// `body` runs once, at once; what it throws fails the future. A promise that is dropped uncompleted fails the
    /// future with ``FutureError/brokenPromise(file:line:)``. The callback has to come on the loop's thread.
    public init(
        on loop: EventLoop, file: StaticString = #fileID, line: UInt = #line,
        _ body: (_ promise: Promise<Value>) throws -> Void
    ) {
        let promise = loop.makePromise(of: Value.self, file: file, line: line)
        do { try body(promise) } catch { promise.fail(error) }
        self = promise.future
    }
}
