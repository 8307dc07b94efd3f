/// A sequence of elements that come one after another on a loop. Use it with `for try await` in code that is
/// isolated to the loop.
///
/// The sequence reads nothing ahead: it asks its source for an element only when the consumer asks. So a slow
/// consumer slows down the source. Each iteration asks the source separately. The documentation of the
/// property or function that returned the sequence says what a second iteration gets.
///
/// If the task is cancelled, the wait for an element ends with a `CancellationError`. No element is lost: the
/// next consumer that asks gets the element. When the iterator is released, for example after a `break`, the
/// source is stopped.
public struct LoopSequence<Element>: AsyncSequence {
    public typealias Failure = any Error

    /// The loop on which the elements come.
    public let loop: EventLoop
    private let makeIterator: () -> AsyncIterator

    /// Creates a sequence that calls `makeIterator` for each iteration.
    public init(on loop: EventLoop, makeIterator: @escaping () -> AsyncIterator) {
        self.loop = loop.core
        self.makeIterator = makeIterator
    }

    public func makeAsyncIterator() -> AsyncIterator {
        loop.core.checkThread()
        let iterator = makeIterator()
        iterator.source.belong(to: loop.core)
        return iterator
    }

    /// An iterator that asks the source for one element after another.
    public struct AsyncIterator: EventLoop.ElementIterator {
        public typealias Failure = any Error

        @usableFromInline let source: ElementSource<Element>

        /// Creates an iterator that gets each element from a call of `next`. The iterator calls `next` again
        /// only when the future from the previous call has completed. To end the sequence, `next` returns a
        /// future that completes with `nil`. The iterator does not call `next` after that.
        ///
        /// The iterator may cancel a future that `next` returned. The cancellation must not lose an element.
        /// Therefore take an element out of the source only at the moment when you complete the future with
        /// that element. The iterator calls `onStop` once: after the end, after a failure, or when the
        /// iterator is released.
        ///
        /// ```swift
        /// let channel = FutureChannel<Data?>(capacity: 8, on: loop)    // `nil` is the end
        /// let pages = LoopSequence(on: loop) { .init(next: { channel.receive() }) }
        /// ```
        public init(next: @escaping () -> Future<Element?>, onStop: @escaping () -> Void = {}) {
            source = ElementSource(next: next, onStop: onStop)
        }

        /// Creates an iterator whose elements come from `asker` for a task that waits, and from `next` for all other
        /// code. The iterator calls `onStop` as it does otherwise.
        package init(
            asking asker: any ElementAsker, on loop: EventLoop, next: @escaping () -> Future<Element?>,
            onStop: @escaping () -> Void = {}
        ) {
            source = ElementSource(asking: asker, on: loop.core, next: next, onStop: onStop)
        }

        /// Completes with the next element, or with `nil` at the end. Use this function in code that does not
        /// await. In code that awaits, use `next()`.
        ///
        /// Call this function again only when the future from the previous call has completed. Do not call it
        /// after the end or after a failure.
        public func pull() -> Future<Element?> { source.next() }

        /// Waits for the next element, and returns it. Returns `nil` at the end. If the source fails, throws
        /// the error once, and returns `nil` after that.
        @inlinable @inline(__always)
        nonisolated(nonsending) public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        /// Waits for the next element, and returns it, as ``next()`` does. A `for try await` calls this
        /// function. The function ignores `actor`, because it always runs in the isolation of the caller.
        @inlinable @inline(__always)
        nonisolated(nonsending) public mutating func next(
            isolation actor: (any Actor)?
        ) async throws -> Element? {
            // A task at a copy of this iterator, or another iterator in this variable, changes nothing of this
            // call.
            let source = source
            var pending: Cell?
            switch source.begin(&pending) {
            case .completed: break
            case .parked: await source.parking(pending).stay()
            case .byTask:
                if let cell = pending { try await source.wait(for: cell) } else { await source.waitByTask() }
            case nil: return nil
            }
            return try source.take(&pending)
        }

        public mutating func nextElement(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await next()
        }
    }
}

extension EventLoop {
    /// An iterator protocol for iterators with a `next` of their own. A `for try await` loop then calls that
    /// `next`, and not the `next` of the standard library's protocol.
    ///
    /// An extension of this protocol implements the `next` of the standard library's protocol. A `for` loop
    /// that knows the type of the iterator finds the iterator's own `next` first. The compiler inlines that
    /// function, so that the loop takes an element that is there already without an asynchronous call.
    public protocol ElementIterator: AsyncIteratorProtocol where Failure == any Error {
        /// Returns the next element to code that is generic over sequences.
        mutating func nextElement(isolation actor: isolated (any Actor)?) async throws -> Element?
    }
}

extension EventLoop.ElementIterator {
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
        try await nextElement(isolation: actor)
    }
}

@available(
    *, unavailable, message: "A sequence belongs to its loop's thread; go there with loop.execute { … }."
)
extension LoopSequence: Sendable {}

@available(
    *, unavailable, message: "An iterator belongs to its loop's thread; go there with loop.execute { … }."
)
extension LoopSequence.AsyncIterator: Sendable {}
