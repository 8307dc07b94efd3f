extension FutureQueue {
    /// Runs `operation` as one operation of this queue, with a queue of its own for the parts of it.
    ///
    /// The slot is taken until the future that `operation` returns has completed and the inner queue is empty;
    /// then the inner queue is closed. The inner queue has the same resource, and a limit of its own, by default
    /// this queue's. If the future fails, or is cancelled, what is in the inner queue fails with that at once.
    @discardableResult
    public func enqueueBatch<Value>(
        priority: Int = 0, maxConcurrent: Int? = nil,
        _ operation: @escaping (_ inner: FutureQueue) throws -> Future<Value>
    ) -> Future<Value> {
        let (loop, resource, limit) = (loop, resource, maxConcurrent ?? self.maxConcurrent)
        return enqueue(priority: priority) {
            let inner = FutureQueue(resource: resource, maxConcurrent: limit, on: loop)
            let future: Future<Value>
            do { future = try operation(inner) } catch { future = loop.failed(error) }
            return future.flatMapResult { result in
                switch result {
                case .success(let value):
                    return inner.drained().map { value }
                case .failure(let error):
                    inner.abort(with: error, close: true)
                    throw error
                }
            }.onEnd { inner.abort(with: CancellationError(), close: true) }
        }
    }

    /// The same for an `operation` that is done when it returns.
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

    /// Closes the queue when it is empty; what is enqueued until then is waited for, too.
    private func drained() -> Future<Void> {
        guard isEmpty else { return whenEmpty().flatMap(drained) }
        close()
        return loop.succeeded()
    }
}
