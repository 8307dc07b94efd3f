internal import Futures

/// The elements of an iteration, fetched in portions on the file pool.
final class Portions<Element: Sendable> {
    private let loop: LoopCore
    private let fetch: () -> Future<[Element]>
    private var elements = Fifo<Element>()
    private var isAtEnd = false
    /// The fetch of the next portion. It continues if the consumer that waits for it is cancelled.
    private var fetching: Future<Void>?

    /// An empty portion means the end.
    init(on loop: LoopCore, fetch: @escaping () -> Future<[Element]>) {
        self.loop = loop
        self.fetch = fetch
    }

    func next() -> Future<Element?> {
        if let element = elements.takeFirst() { return loop.succeeded(element) }
        if isAtEnd { return loop.succeeded(nil) }
        return (fetching ?? beginFetch()).branch().flatMap { [self] in next() }
    }

    private func beginFetch() -> Future<Void> {
        let fetching = fetch().map { [self] portion in
            for element in portion { elements.append(element) }
            isAtEnd = portion.isEmpty
        }
        self.fetching = fetching
        fetching.whenComplete { [self] _ in self.fetching = nil }
        return fetching
    }
}
