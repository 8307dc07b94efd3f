extension EventLoop {
    /// Calls `body` for each of `elements`. The returned future completes with the values of the futures that
    /// `body` returns, in the order of `elements`.
    ///
    /// At most `maxConcurrent` of these futures are pending at a time. With a `maxConcurrent` of 1, the next
    /// call of `body` comes after the future of the previous call has completed. An element is taken from the
    /// sequence only when `body` is about to be called with that element. The first elements are taken within
    /// the call of this function. If `elements` is empty, the returned future completes at once. `body` runs
    /// on `context` if you give one.
    ///
    /// Fails with the first failure of these futures, or with the error that `body` throws. After a failure,
    /// no more elements are taken, and the pending futures are asked to cancel. The same happens if the
    /// returned future or `token` is cancelled. If `token` is cancelled already, no element is taken. Fails
    /// with ``FutureError/invalidArgument(_:)`` if `maxConcurrent` is not positive.
    ///
    /// ```swift
    /// let pages = loop.traverse(names, maxConcurrent: 4) { fetch($0) }
    /// ```
    public func traverse<Element, Value>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int = .max, on context: LocalContext? = nil,
        token: CancellationToken = .none, _ body: @escaping (Element) throws -> Future<Value>
    ) -> Future<[Value]> {
        collect(elements, limit, token, placed(body, on: context)) { try $0.get() }
    }

    /// Calls `body` for each of `elements`. The returned future completes with the outcomes of the futures
    /// that `body` returns, in the order of `elements`.
    ///
    /// After a failure, `body` is still called for the remaining elements. If `body` throws for an element,
    /// the outcome for that element is the error. If a future is cancelled, its outcome is a
    /// `CancellationError`. Everything else is the same as in ``traverse(_:maxConcurrent:on:token:_:)``.
    public func traverseSettled<Element, Value>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int = .max, on context: LocalContext? = nil,
        token: CancellationToken = .none, _ body: @escaping (Element) throws -> Future<Value>
    ) -> Future<[Result<Value, any Error>]> {
        let body = placed(body, on: context)
        let caught = { [unowned core] element in core.attempt { try body(element) } }
        return collect(elements, limit, token, caught) { $0 }
    }

    /// Completes with the items that `item` makes from the outcomes, in the order of `elements`.
    private func collect<Element, Output, Item>(
        _ elements: some Sequence<Element>, _ limit: Int, _ token: CancellationToken,
        _ body: @escaping (Element) throws -> Future<Output>,
        _ item: @escaping (Result<Output, any Error>) throws -> Item
    ) -> Future<[Item]> {
        let elements = AnyIterator(elements.makeIterator())
        let work = Traversal.Work(limit: limit, pull: elements.next, body: body) { items, result, index in
            items.place(try item(result), at: index)
        } conclude: { (items: [Item?]) in
            items.map { $0! }
        }
        return traverse(work, into: [], token)
    }

    /// Calls `body` for each of `elements`. The returned future completes when all the futures that `body`
    /// returns have succeeded. Their values are not kept.
    ///
    /// By default, the next call of `body` comes after the future of the previous call has succeeded. With a
    /// higher `maxConcurrent`, more futures can be pending at a time. Everything else is the same as in
    /// ``traverse(_:maxConcurrent:on:token:_:)``.
    ///
    /// ```swift
    /// let sent = loop.forEach(names) { fetch($0).flatMap { connection.write($0) } }
    /// ```
    public func forEach<Element, Ignored>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int = 1, on context: LocalContext? = nil,
        token: CancellationToken = .none, _ body: @escaping (Element) throws -> Future<Ignored>
    ) -> Future<Void> {
        forEach(
            maxConcurrent: limit, token, AnyIterator(elements.makeIterator()).next, placed(body, on: context))
    }

    /// Runs `body` `count` times. The next run starts when the future of the previous run has succeeded.
    /// `body` gets the number of the run, from 0. The returned future completes after the last run.
    ///
    /// The first run starts at once. After a failure, there are no more runs, and the returned future fails
    /// with the same error. Fails with ``FutureError/invalidArgument(_:)`` if `count` is negative. Cancelling
    /// the returned future or `token` asks the future of the current run to cancel.
    public func `repeat`<Ignored>(
        times count: Int, token: CancellationToken = .none,
        _ body: @escaping (_ number: Int) throws -> Future<Ignored>
    ) -> Future<Void> {
        if let complaint = FutureError.complaint(repetitions: count, delay: nil) { return failed(complaint) }
        return forEach(0..<count, token: token, body)
    }

    /// Runs `body` again and again, as long as `condition` returns `true`. `condition` is called before each
    /// run. The next run starts when the future of the previous run has succeeded. The returned future
    /// completes when `condition` returns `false`.
    ///
    /// The first call of `condition` comes at once. After a failure, there are no more runs, and the returned
    /// future fails with the same error. Also fails with the error that `condition` or `body` throws.
    /// Cancelling the returned future or `token` asks the future of the current run to cancel.
    public func `repeat`<Ignored>(
        while condition: @escaping () throws -> Bool, token: CancellationToken = .none,
        _ body: @escaping () throws -> Future<Ignored>
    ) -> Future<Void> {
        forEach(maxConcurrent: 1, token, { try condition() ? () : nil }, body)
    }

    private func forEach<Element, Ignored>(
        maxConcurrent limit: Int, _ token: CancellationToken, _ pull: @escaping () throws -> Element?,
        _ body: @escaping (Element) throws -> Future<Ignored>
    ) -> Future<Void> {
        let work = Traversal.Work(limit: limit, pull: pull, body: body) { (_: inout Void, result, _) in
            _ = try result.get()
        } conclude: {
        }
        return traverse(work, into: (), token)
    }

    private func traverse<Element, Output, Total, Value>(
        _ work: Traversal<Element, Output, Total, Value>.Work, into total: Total, _ token: CancellationToken
    ) -> Future<Value> {
        core.checkThread()
        guard !token.isCancelled(on: core) else { return failed(CancellationError()) }
        guard work.limit > 0 else { return failed(FutureError.unsuitableLimit(work.limit)) }
        let cell = Cell.plain(core, state: .pending, of: Value.self)
        Traversal(cell, total: total, work).start()
        return Future(cell).until(token)
    }

    /// Returns a function that runs `body` on `context`. If `context` is `nil`, returns `body` itself.
    private func placed<Element, Value>(
        _ body: @escaping (Element) throws -> Future<Value>, on context: LocalContext?
    ) -> (Element) throws -> Future<Value> {
        guard let context else { return body }
        return { [unowned core] element in core.flatSubmit(on: context) { try body(element) } }
    }
}

extension Array {
    /// Stores `content` at `index`, and fills the array with `nil` up to that index if it is shorter.
    fileprivate mutating func place<Content>(_ content: Content, at index: Int) where Element == Content? {
        while count <= index { append(nil) }
        self[index] = .some(content)
    }
}

extension FutureError {
    static func unsuitableLimit(_ limit: Int) -> FutureError {
        .invalidArgument("maxConcurrent must be at least 1, not \(limit)")
    }
}
