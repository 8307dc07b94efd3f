import Futures
import Testing

/// A sequence of the numbers that the test sends, which notes what is asked of it.
final class Numbers {
    let loop: EventLoop
    let seen = Record()
    var promises: [Promise<Int?>] = []

    init(_ loop: EventLoop) { self.loop = loop }

    var sequence: LoopSequence<Int> {
        LoopSequence(on: loop) { [self] in
            LoopSequence.AsyncIterator(next: ask) { self.seen.add("stopped") }
        }
    }

    private func ask() -> Future<Int?> {
        seen.add("asked")
        let promise = loop.makePromise(of: Int?.self)
        promises.append(promise)
        return promise.future
    }

    func send(_ number: Int?) { promises.removeFirst().succeed(number) }
}

/// Notes what `sequence` gives, in a task of its loop.
func collect<Element>(_ sequence: LoopSequence<Element>, into record: Record) -> Future<Void> {
    Future(on: sequence.loop) {
        for try await element in sequence {
            #expect(sequence.loop.isCurrent)
            record.add(element)
        }
    }
}
