/// A sequence of elements that come one after another on a loop, for `for try await` in code that is isolated to the
/// loop.
///
/// Nothing is read ahead: the source is asked for an element only when the consumer asks. So a slow consumer holds it
/// back. Each iteration asks for itself. The description of the source says what that means. Cancelling the task ends
/// the wait with a `CancellationError` and loses no element: the next to ask gets it. When the iterator is released,
/// after a `break` too, the source is stopped.
public struct LoopSequence<Element>: AsyncSequence {
    public typealias Failure = any Error

    /// The loop that the elements come on.
    public let loop: EventLoop
    private let makeIterator: () -> AsyncIterator

    /// Creates a sequence that gets its iterators from `makeIterator`.
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

        /// Creates an iterator that asks `next`, one at a time. At the end `next` completes with `nil`, and is not
        /// asked again.
        ///
        /// Cancelling one of its futures must lose no element: take it in the step that completes the future.
        /// `onStop` is called once: after an end or a failure, or when the iterator is released.
        ///
        /// ```swift
        /// let channel = FutureChannel<Data?>(capacity: 8, on: loop)    // `nil` is the end
        /// let pages = LoopSequence(on: loop) { .init(next: { channel.receive() }) }
        /// ```
        public init(next: @escaping () -> Future<Element?>, onStop: @escaping () -> Void = {}) {
            source = Source(next: next, onStop: onStop)
        }

        /// Completes with the next element, or with `nil` at the end. For code that does not await. Otherwise use
        /// `next()`.
        ///
        /// Call it again only when the one before has completed, until there was an end or a failure.
        public func pull() -> Future<Element?> { source.next() }

        /// Returns the next element; `nil` at the end, and after a failure has been thrown.
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

    /// The part that the copies of an iterator share. It stops with the last of them.
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
