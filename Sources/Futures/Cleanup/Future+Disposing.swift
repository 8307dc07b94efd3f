extension Future {
    /// Creates a future that `body` completes through `promise`. `body` returns a clean-up object. When the
    /// future has completed or has been cancelled, ``Disposable/dispose()`` of that object is called.
    ///
    /// `body` is called once, within this call. If `body` throws, the future fails with that error. If the
    /// promise is released without having been completed, the future fails with
    /// ``FutureError/brokenPromise(file:line:)``. This error names `file` and `line`.
    ///
    /// `dispose()` is called exactly once, within the call that completes or cancels the future, and before
    /// the callbacks of the future run. If `body` itself completes the future, `dispose()` is called when
    /// `body` has returned. The clean-up object must not hold the promise, because then the promise could
    /// never be released.
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
        var cleanUp: CleanUp?
        self.init(on: loop, file: file, line: line) { promise in cleanUp = try body(promise) }
        if let cleanUp { self = onEnd(loop.core.carrying { cleanUp.dispose() }) }
    }

    /// Creates a future that `body` completes through `promise`. For an API with callbacks, `body` can pass
    /// one of the `resolve` methods of `promise` as the callback. The API must call this callback on the
    /// loop's thread.
    ///
    /// `body` is called once, within this call. If `body` throws, the future fails with that error. If the
    /// promise is released without having been completed, the future fails with
    /// ``FutureError/brokenPromise(file:line:)``. This error names `file` and `line`.
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
