import Futures
import Testing

/// Code that goes through a sequence, and notes the elements and what ended them.
enum Consumer: CaseIterable {
    /// The body of a future.
    case body
    /// A task of one's own, which no body knows.
    case actor, executorPreference

    /// Tasks of one's own alone.
    static let tasks = [actor, executorPreference]

    /// Starts on `loop`. Returns what cancels the consumer.
    @discardableResult
    func start<Element>(
        _ sequence: LoopSequence<Element>, _ seen: Record, on loop: EventLoop
    ) -> () -> Void {
        nonisolated(unsafe) let (sequence, seen) = (sequence, seen)
        switch self {
        case .body:
            let future = Future(on: loop) { unsafe await note(sequence, in: seen) }
            return { future.cancel() }
        case .actor:
            let task = Owner(loop).assumeIsolated { owner in unsafe owner.start(sequence, seen) }
            return { task.cancel() }
        case .executorPreference:
            let task = Task(executorPreference: loop) { unsafe await note(sequence, in: seen) }
            return { task.cancel() }
        }
    }

    private actor Owner {
        let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        func start<Element>(_ sequence: LoopSequence<Element>, _ seen: Record) -> Task<Void, Never> {
            nonisolated(unsafe) let (sequence, seen) = (sequence, seen)
            return Task { unsafe await note(sequence, in: seen, self) }
        }
    }
}

private func note<Element>(
    _ sequence: LoopSequence<Element>, in seen: Record, _: isolated (any Actor)? = #isolation
) async {
    do {
        for try await element in sequence { seen.add(element) }
        seen.add("end")
    } catch {
        seen.add(error)
    }
    if !sequence.loop.isCurrent { Issue.record("resumed elsewhere") }
}

/// An iterator that several tasks use.
final class SharedIterator<Element> {
    private var iterator: LoopSequence<Element>.AsyncIterator

    init(_ iterator: LoopSequence<Element>.AsyncIterator) { self.iterator = iterator }

    nonisolated(nonsending) func next() async throws -> Element? { try await iterator.next() }

    nonisolated(nonsending) func nextOfCopy() async throws -> Element? {
        var copy = iterator
        return try await copy.next()
    }
}

extension Future {
    /// The value, if it is there.
    var now: Value? { try? result?.get() }
}
