// One group of N futures, from its making to its outcome, for its instructions to be counted.
//
// Usage: GroupSizes GROUP N; without a group it prints their names.

import UVFutures

struct Failure: Error {}

struct Groups {
    let loop: EventLoop
    let size: Int

    var all: KeyValuePairs<String, () throws -> Void> {
        [
            "all": { try succeed { Future.all($0) } },
            "all-completed": { try loop.run(until: Future.all(completed).map { _ in }) },
            "all-fails": { try fail([size / 2]) { Future.all($0) } },
            "all-cancelled": { try cancel { Future.all($0) } },
            "allSettled": { try succeed { Future.allSettled($0) } },
            "race": { try succeed { Future.race($0) } },
            "race-cancelled": { try cancel { Future.race($0) } },
            "firstSuccess": { try succeed { Future.firstSuccess($0) } },
            "firstSuccess-fails": { try fail(0..<size) { Future.firstSuccess($0) } },
            "select": { try succeed { Future.select(from: $0) } },
            "sequence": { try succeed { Future.sequence($0) } },
            "reduce": { try succeed { Future.reduce($0, 0, +) } },
            "fold": { try succeed { Future.fold($0, 0) { sum, value in loop.succeeded(sum + value) } } },
            "fold-cancelled": { try cancel { Future.fold($0, 0) { _, value in loop.succeeded(value) } } },
            "find": { try succeed { Future.find($0) { $0 == size - 1 } } },
            "traverse": { try succeed { futures in loop.traverse(0..<size) { futures[$0] } } },
            "traverse-fails": { try fail([size / 2]) { futures in loop.traverse(0..<size) { futures[$0] } } },
            "traverse-cancelled": { try cancel { futures in loop.traverse(0..<size) { futures[$0] } } },
            "traverse-limit": {
                try loop.run(until: loop.traverse(0..<size, maxConcurrent: 10, work).map { _ in })
            },
            "forEach": { try loop.run(until: loop.forEach(0..<size, work)) },
            "inCompletionOrder": { try succeed { drain(Future.inCompletionOrder($0)) } },
            "mapFuture": { try loop.run(until: drain(numbers.mapFuture(maxConcurrent: 10, work))) },
            "mapFuture-all": { try loop.run(until: drain(numbers.mapFuture(maxConcurrent: .max, work))) },
            "queue": { try runQueue { $0.whenEmpty() } },
            "queue-aborted": {
                try runQueue { queue in
                    queue.abort(with: CancellationError())
                    return queue.whenEmpty()
                }
            },
        ]
    }

    var completed: [Future<Int>] { (0..<size).map { loop.succeeded($0) } }

    var numbers: LoopSequence<Int> {
        LoopSequence(on: loop) {
            var numbers = (0..<size).makeIterator()
            return LoopSequence.AsyncIterator(next: { loop.succeeded(numbers.next()) })
        }
    }

    func drain(_ elements: LoopSequence<Int>) -> Future<Void> {
        let iterator = elements.makeAsyncIterator()
        func next() -> Future<Void> {
            iterator.pull().flatMap { element in element == nil ? loop.succeeded() : next() }
        }
        return next()
    }

    func work(_ number: Int) -> Future<Int> { loop.submit { number } }

    func runQueue(_ end: (FutureQueue<Void>) -> Future<Void>) throws {
        let queue = FutureQueue(maxConcurrent: 10, on: loop)
        for number in 0..<size { queue.enqueue { work(number) } }
        try loop.run(until: end(queue))
        precondition(queue.isEmpty)
    }

    // The last of the futures is the first to complete.
    func succeed<Output>(_ make: ([Future<Int>]) -> Future<Output>) throws {
        try run(make) { promises, _ in
            for (number, promise) in promises.enumerated().reversed() { promise.succeed(number) }
        }.get()
    }

    func fail<Output>(_ numbers: some Sequence<Int>, _ make: ([Future<Int>]) -> Future<Output>) throws {
        let result = try run(make) { promises, _ in
            for number in numbers { promises[number].fail(Failure()) }
        }
        guard case .failure = result else { preconditionFailure("the group did not fail") }
    }

    func cancel<Output>(_ make: ([Future<Int>]) -> Future<Output>) throws {
        let result = try run(make) { _, group in group.cancel() }
        guard case .failure(is CancellationError) = result else { preconditionFailure("not cancelled") }
    }

    /// Afterwards nothing may be pending, since a group cancels the rest.
    func run<Output>(
        _ make: ([Future<Int>]) -> Future<Output>, end: ([Promise<Int>], Future<Output>) -> Void
    ) throws -> Result<Void, any Error> {
        let promises = (0..<size).map { _ in loop.makePromise(of: Int.self) }
        let group = make(promises.map(\.future))
        end(promises, group)
        let result = try loop.run(until: group.mapResult { result in result.map { _ in } })
        precondition(promises.allSatisfy(\.future.isCompleted))
        return result
    }
}

let arguments = CommandLine.arguments.dropFirst()
let groups = Groups(loop: try EventLoop(), size: arguments.last.flatMap(Int.init) ?? 0)
for (name, run) in groups.all {
    if arguments.isEmpty { print(name) } else if name == arguments.first { try run() }
}
