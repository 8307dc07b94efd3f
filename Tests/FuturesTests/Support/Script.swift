import Futures
import Testing

/// What sources of sequences do, one after another: `a1` is an element of the source `a`, `a.` is its end, `a!` its
/// failure.
struct Script: CustomTestStringConvertible, Sendable {
    let testDescription: String

    init(_ text: String) { testDescription = text }

    /// Makes the sources do all of it. Calls `afterEach` after each event.
    func run(_ sources: [Character: ElementQueue<Int>], afterEach: () -> Void) {
        for event in testDescription.split(separator: " ") {
            let source = sources[event.first!]!
            switch event.dropFirst() {
            case ".": source.finish()
            case "!": source.add(source.loop.failed(Failure(1)).ignoreFailure())
            case let number: source.add(source.loop.succeeded(Int(number)!))
            }
            afterEach()
        }
    }
}

extension ElementQueue {
    /// A sequence of the elements of this queue.
    func sequence(onStop: @escaping () -> Void = {}) -> LoopSequence<Element> {
        LoopSequence(on: loop) { .init(asking: self, on: self.loop, next: self.next, onStop: onStop) }
    }
}
