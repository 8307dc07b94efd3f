extension Future {
    /// Creates a future that `body` completes by the promise, with the clean-up that `body` returns.
    ///
    /// `body` runs once, at once. If it throws, the future fails with that error. The clean-up is disposed of exactly
    /// once: within the call that completes or cancels the future, before anybody hears of that, or after `body` if
    /// `body` has completed it. The clean-up must not hold the promise, which could then not be dropped. A promise that
    /// is dropped uncompleted fails the future with ``FutureError/brokenPromise(file:line:)``.
    ///
    /// ```swift
    /// let page = Future<Data>(on: loop) { promise in
    ///     download("index", completion: promise.resolve)
    ///     return Disposer { try? FileManager.default.removeItem(atPath: "index.part") }
    /// }
    /// ```
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

    /// Creates a future that `body` completes by the promise. `body` may hand one of the promise's `resolve`s to a
    /// callback API.
    ///
    /// `body` runs once, at once. If it throws, the future fails with that error. A promise that is dropped uncompleted
    /// fails the future with ``FutureError/brokenPromise(file:line:)``. The callback has to come on the loop's thread.
    ///
    /// ```swift
    /// let page = Future<Data>(on: loop) { download("index", completion: $0.resolve) }
    /// ```
    public init(
        on loop: EventLoop, file: StaticString = #fileID, line: UInt = #line,
        _ body: (_ promise: Promise<Value>) throws -> Void
    ) {
        let promise = loop.makePromise(of: Value.self, file: file, line: line)
        do { try body(promise) } catch { promise.fail(error) }
        self = promise.future
    }
}
