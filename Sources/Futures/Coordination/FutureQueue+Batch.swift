extension FutureQueue {
    /// Runs `operation` as one operation of this queue, and passes it an inner queue for the parts of the
    /// work.
    ///
    /// In this queue, the whole batch counts as one running operation. The inner queue has the same resource
    /// as this queue. The inner queue runs at most `maxConcurrent` operations at a time. If `maxConcurrent`
    /// is `nil`, the inner queue has the limit of this queue.
    ///
    /// The batch ends when the future that `operation` returned has completed and the inner queue is empty.
    /// The future that `enqueueBatch` returned then completes with the same outcome, and the inner queue is
    /// closed. If the future that `operation` returned fails or is cancelled, the batch ends at once, and
    /// everything in the inner queue fails with the same error.
    ///
    /// ```swift
    /// let queue = FutureQueue(maxConcurrent: 2, on: loop)
    /// let pages = queue.enqueueBatch(maxConcurrent: 4) { inner in
    ///     Future.all(names.map { name in inner.enqueue { fetch(name) } })
    /// }
    /// ```
    @discardableResult
    public func enqueueBatch<Value>(
        priority: Int = 0, maxConcurrent: Int? = nil,
        _ operation: @escaping (_ inner: FutureQueue) throws -> Future<Value>
    ) -> Future<Value> {
        let (loop, resource, limit) = (loop, resource, maxConcurrent ?? self.maxConcurrent)
        Self.check(limit)
        return enqueue(priority: priority) {
            let inner = FutureQueue(resource: resource, maxConcurrent: limit, on: loop)
            return loop.attempt { try operation(inner) }.flatMapResult { result in
                guard let error = result.thrownError else { return inner.drained().map { try result.get() } }
                inner.abort(with: error, close: true)
                throw error
            }.onEnd { inner.abort(with: CancellationError(), close: true) }
        }
    }

    /// Runs `operation` as one operation of this queue, and passes it an inner queue for the parts of the
    /// work. When the inner queue is empty, the returned future completes with the value that `operation`
    /// returned.
    ///
    /// Everything else is the same as in the `enqueueBatch` whose `operation` returns a future.
    @discardableResult
    public func enqueueBatch<Value>(
        priority: Int = 0, maxConcurrent: Int? = nil,
        _ operation: @escaping (_ inner: FutureQueue) throws -> Value
    ) -> Future<Value> {
        let loop = loop
        return enqueueBatch(priority: priority, maxConcurrent: maxConcurrent) { inner -> Future<Value> in
            loop.succeeded(try operation(inner))
        }
    }

    /// Closes the queue when it is empty. Operations that are enqueued before then still run.
    private func drained() -> Future<Void> {
        guard isEmpty else { return whenEmpty().flatMap(drained) }
        close()
        return loop.succeeded()
    }
}
