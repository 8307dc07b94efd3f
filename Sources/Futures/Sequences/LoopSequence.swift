/// A sequence of elements that come one after another on a loop, for `for try await` in code that is isolated to the
/// loop.
///
/// The sequence reads nothing ahead: it asks its source for an element only when the consumer asks. So a slow
/// consumer slows down the source. Each iteration asks the source separately. The property or the function
/// that returned the sequence says what a second iteration gets. If the task is cancelled, the wait ends with
/// a `CancellationError`. No element is lost: the next consumer that asks gets the element. When the iterator
/// is released, for example after a `break`, the source is stopped.
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
        return makeIterator()
    }

    /// An iterator that asks the source for one element after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        public typealias Failure = any Error

        private let source: Source

        /// Creates an iterator that gets each element from a call of `next`. The iterator calls `next` again
        /// only when the future from the previous call has completed. To end the sequence, `next` returns a
        /// future that completes with `nil`. The iterator does not call `next` after that.
        ///
        /// A future that `next` returned may be cancelled, and must not lose an element then. So take an
        /// element out of the source only in the call that completes the future. The iterator calls `onStop`
        /// once: after the end, after a failure, or when the iterator is released.
        ///
        /// ```swift
        /// let channel = FutureChannel<Data?>(capacity: 8, on: loop)    // `nil` is the end
        /// let pages = LoopSequence(on: loop) { .init(next: { channel.receive() }) }
        /// ```
        public init(next: @escaping () -> Future<Element?>, onStop: @escaping () -> Void = {}) {
            source = Source(next: next, onStop: onStop)
        }

        /// Completes with the next element, or with `nil` at the end. Use this function in code that does not
        /// await. In code that awaits, use `next()`.
        ///
        /// Call this function again only when the future from the previous call has completed. Do not call it
        /// after the end or after a failure.
        public func pull() -> Future<Element?> { source.next() }

        /// Waits for the next element, and returns it. Returns `nil` at the end. Throws a failure of the
        /// source once, and returns `nil` after that.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Element? {
            guard !source.hasStopped else { return nil }
            do {
                let element = try await source.next().value
                if element == nil { source.stop() }
                return element
            } catch {
                if !error.isCancellation { source.stop() }
                throw error
            }
        }
    }

    /// The state that the copies of an iterator share. The release of the last copy stops the source.
    private final class Source {
        let next: () -> Future<Element?>
        private let onStop: () -> Void
        private(set) var hasStopped = false

        init(next: @escaping () -> Future<Element?>, onStop: @escaping () -> Void) {
            self.next = next
            self.onStop = onStop
        }

        deinit { stop() }

        func stop() {
            guard !hasStopped else { return }
            hasStopped = true
            onStop()
        }
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
