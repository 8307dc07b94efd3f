extension EventLoop {
    /// Calls `body` for each of `elements`, and completes with the values of the futures, in the order of the
    /// elements.
    ///
    /// At most `maxConcurrent` of them are pending at a time. With one they follow one after another. Takes elements
    /// from the sequence when they are needed, the first ones at once. Fails with the first failure: takes no more
    /// elements then, and asks what is still pending to cancel. Cancelling the future or `token` asks it to cancel
    /// too. With a token that is cancelled already takes no element. With a `context`, runs `body` there.
    /// Completes at once if there are no elements.
    /// Fails with what `body` throws, and with ``FutureError/invalidArgument(_:)`` if `maxConcurrent` is not
    /// positive.
    ///
    /// ```swift
    /// let pages = loop.traverse(names, maxConcurrent: 4) { fetch($0) }
    /// ```
    public func traverse<Element, Value>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int = .max, on context: LocalContext? = nil,
        token: CancellationToken = .none, _ body: @escaping (Element) throws -> Future<Value>
    ) -> Future<[Value]> {
        traverse(elements, maxConcurrent: limit, into: [Value?](), token, placed(body, on: context)) {
            values, result, index in
            values.place(try result.get(), at: index)
        } conclude: { values in
            values.map { $0! }
        }
    }

    /// Calls `body` for each of `elements`, and completes with the outcomes of the futures, in the order of the
    /// elements.
    ///
    /// Goes on after failures. What `body` throws is an outcome too. Cancellation reads as `CancellationError`.
    /// Otherwise like ``traverse(_:maxConcurrent:on:token:_:)``.
    public func traverseSettled<Element, Value>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int = .max, on context: LocalContext? = nil,
        token: CancellationToken = .none, _ body: @escaping (Element) throws -> Future<Value>
    ) -> Future<[Result<Value, any Error>]> {
        let body = placed(body, on: context)
        return traverse(elements, maxConcurrent: limit, into: [Result<Value, any Error>?](), token) {
            [unowned core] element in
            do { return try body(element) } catch { return core.failed(error) }
        } take: { results, result, index in
            results.place(result, at: index)
        } conclude: { results in
            results.map { $0! }
        }
    }

    /// Calls `body` for each of `elements`, and completes when all its futures have succeeded. They follow one after
    /// another unless `maxConcurrent` allows more at a time. Keeps none of their values. Otherwise like
    /// ``traverse(_:maxConcurrent:on:token:_:)``.
    ///
    /// ```swift
    /// let sent = loop.forEach(names) { fetch($0).flatMap { connection.write($0) } }
    /// ```
    public func forEach<Element, Ignored>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int = 1, on context: LocalContext? = nil,
        token: CancellationToken = .none, _ body: @escaping (Element) throws -> Future<Ignored>
    ) -> Future<Void> {
        traverse(elements, maxConcurrent: limit, into: (), token, placed(body, on: context)) { _, result, _ in
            _ = try result.get()
        } conclude: {
        }
    }

    /// Runs `body` `count` times, each time after the future of the run before has succeeded. `body` gets the number
    /// of the run, from 0.
    ///
    /// The first run is at once. Fails with the first failure, and with ``FutureError/invalidArgument(_:)`` if
    /// `count` is negative. Cancelling the future, or `token`, reaches the run in progress.
    public func `repeat`<Ignored>(
        times count: Int, token: CancellationToken = .none,
        _ body: @escaping (_ number: Int) throws -> Future<Ignored>
    ) -> Future<Void> {
        if let complaint = FutureError.complaint(repetitions: count, delay: nil) { return failed(complaint) }
        return forEach(0..<count, token: token, body)
    }

    /// Runs `body` until `condition` is `false`. Asks `condition` before each run. A run follows when the future of
    /// the one before has succeeded.
    ///
    /// The first run is at once. Fails with the first failure, or what either closure throws. Cancelling the future,
    /// or `token`, reaches the run in progress.
    public func `repeat`<Ignored>(
        while condition: @escaping () throws -> Bool, token: CancellationToken = .none,
        _ body: @escaping () throws -> Future<Ignored>
    ) -> Future<Void> {
        traverse(maxConcurrent: 1, into: (), token) {
            try condition() ? () : nil
        } body: {
            try body()
        } take: { _, result, _ in
            _ = try result.get()
        } conclude: {
        }
    }

    private func traverse<Element, Output, Total, Value>(
        _ elements: some Sequence<Element>, maxConcurrent limit: Int, into total: Total,
        _ token: CancellationToken,
        _ body: @escaping (Element) throws -> Future<Output>,
        take: @escaping (inout Total, Result<Output, any Error>, _ index: Int) throws -> Void,
        conclude: @escaping (Total) -> Value
    ) -> Future<Value> {
        var iterator = elements.makeIterator()
        return traverse(
            maxConcurrent: limit, into: total, token, pull: { iterator.next() }, body: body, take: take,
            conclude: conclude)
    }

    private func traverse<Element, Output, Total, Value>(
        maxConcurrent limit: Int, into total: Total, _ token: CancellationToken,
        pull: @escaping () throws -> Element?,
        body: @escaping (Element) throws -> Future<Output>,
        take: @escaping (inout Total, Result<Output, any Error>, _ index: Int) throws -> Void,
        conclude: @escaping (Total) -> Value
    ) -> Future<Value> {
        core.checkThread()
        guard !token.isCancelled else { return failed(CancellationError()) }
        guard limit > 0 else { return failed(FutureError.unsuitableLimit(limit)) }
        let cell = Cell.plain(core, state: .pending, of: Value.self)
        Traversal(cell, limit: limit, total: total, pull: pull, body: body, take: take, conclude: conclude)
            .start()
        return Future(cell).until(token)
    }

    /// Returns `body`, which then runs on `context`, or wherever it is called if that is `nil`.
    private func placed<Element, Value>(
        _ body: @escaping (Element) throws -> Future<Value>, on context: LocalContext?
    ) -> (Element) throws -> Future<Value> {
        guard let context else { return body }
        return { [unowned core] element in core.flatSubmit(on: context) { try body(element) } }
    }
}

extension Array {
    /// Puts `content` at `index`, which may be beyond the end. Extends the array as needed.
    fileprivate mutating func place<Content>(_ content: Content, at index: Int) where Element == Content? {
        while count <= index { append(nil) }
        self[index] = .some(content)
    }
}

extension FutureError {
    static func unsuitableLimit(_ limit: Int) -> FutureError {
        .invalidArgument("a limit of \(limit) lets nothing run; give at least 1")
    }
}
