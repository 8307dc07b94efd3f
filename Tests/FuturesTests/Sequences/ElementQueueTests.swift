import Futures
import FuturesTesting
import Testing

struct ElementQueueTests {
    @Test("what comes while somebody waits is taken within the call that adds it")
    func within() {
        with { queue, numbers, loop in
            let seen = Record()
            Consumer.body.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            for number in 1...2 {
                loop.schedule(after: .zero) {
                    queue.add(loop.succeeded(number))
                    seen.add("added")
                }
            }
            loop.advance(by: .zero)
            #expect(seen.entries == ["1", "added", "2", "added"])
        }
    }

    @Test(
        "what comes while nobody waits is kept, and so is the order of elements and failures",
        arguments: Consumer.allCases)
    func kept(consumer: Consumer) {
        with { queue, numbers, loop in
            queue.add(loop.succeeded(1))
            queue.add(loop.succeeded(2))
            queue.add(loop.failed(Failure(3)))
            queue.add(loop.succeeded(4))
            let seen = Record()
            consumer.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            #expect(seen.entries == ["1", "2", "Failure(code: 3)"])
            #expect(queue.left.map { try? $0.get() } == [4])
        }
    }

    @Test("the end is told to who waits and to who comes later", arguments: Consumer.allCases)
    func ends(consumer: Consumer) {
        with { queue, numbers, loop in
            let (seen, late) = (Record(), Record())
            consumer.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            loop.later {
                queue.add(loop.succeeded(1))
                queue.finish()
            }
            loop.advance(by: .zero)
            consumer.start(numbers, late, on: loop)
            loop.advance(by: .zero)
            #expect(seen.entries == ["1", "end"])
            #expect(late.entries == ["end"])
        }
    }

    @Test("a failure that comes during the wait ends the sequence", arguments: Consumer.allCases)
    func fails(consumer: Consumer) {
        with { queue, numbers, loop in
            let seen = Record()
            consumer.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            loop.later { queue.add(loop.failed(Failure(3))) }
            loop.advance(by: .zero)
            #expect(seen.entries == ["Failure(code: 3)"])
        }
    }

    @Test("who is cancelled takes nothing, before the wait and during it", arguments: Consumer.allCases)
    func cancelled(consumer: Consumer) {
        with { queue, numbers, loop in
            let (seen, next) = (Record(), Record())
            let cancel = consumer.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            cancel()
            loop.advance(by: .zero)
            #expect(seen.entries == ["CancellationError()"])
            let cancelEarly = consumer.start(numbers, next, on: loop)
            cancelEarly()
            loop.advance(by: .zero)
            queue.add(loop.succeeded(1))
            loop.advance(by: .zero)
            #expect(queue.left.count == 1)
            #expect(queue.next().now == 1)
        }
    }

    @Test("who is cancelled after an element has come gets the element", arguments: Consumer.tasks)
    func nothingLost(consumer: Consumer) {
        with { queue, numbers, loop in
            let seen = Record()
            let cancel = consumer.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            let body = Future(on: loop) {
                queue.add(loop.succeeded(7))
                cancel()
            }
            loop.advance(by: .zero)
            #expect(body.isCompleted)
            #expect(seen.entries == ["7", "CancellationError()"])
        }
    }

    @Test("shutdown ends the wait", arguments: Consumer.allCases)
    func shutdown(consumer: Consumer) {
        with { _, numbers, loop in
            let seen = Record()
            consumer.start(numbers, seen, on: loop)
            loop.advance(by: .zero)
            loop.shutdown()
            #expect(seen.entries == ["\(FutureError.shutDown)"])
        }
    }

    @Test("tasks and futures get what comes in the order in which they asked", arguments: Consumer.allCases)
    func order(consumer: Consumer) {
        with { queue, numbers, loop in
            let (first, third) = (Record(), Record())
            consumer.start(numbers, first, on: loop)
            loop.advance(by: .zero)
            let second = queue.next()
            consumer.start(numbers, third, on: loop)
            loop.advance(by: .zero)
            for number in 1...5 {
                loop.later { queue.add(loop.succeeded(number)) }
                loop.advance(by: .zero)
            }
            #expect(first.entries == ["1", "4"])
            #expect(second.now == 2)
            #expect(third.entries == ["3", "5"])
        }
    }

    @Test("whether an element is there already is asked of elements alone, not of failures")
    func contains() {
        with { queue, _, loop in
            queue.add(loop.failed(Failure(1)).ignoreFailure())
            #expect(!queue.contains { _ in true })
            queue.add(loop.succeeded(2))
            #expect(queue.contains { $0 == 2 } && !queue.contains { $0 == 3 })
        }
    }

    @Test("who has left the loop takes nothing more")
    func leaves() {
        with { queue, numbers, loop in
            let taken = Future(on: loop) {
                for try await number in numbers { return number }
                return 0
            }
            loop.advance(by: .zero)
            loop.later { for number in 1...2 { queue.add(loop.succeeded(number)) } }
            loop.advance(by: .zero)
            #expect(taken.now == 1)
            #expect(queue.left.count == 1)
        }
    }

    private func with(_ body: (ElementQueue<Int>, LoopSequence<Int>, EventLoop) -> Void) {
        let loop = EventLoop.virtual()
        let queue = ElementQueue<Int>(on: loop.core)
        let numbers = LoopSequence(on: loop) {
            LoopSequence.AsyncIterator(asking: queue, on: loop, next: queue.next)
        }
        body(queue, numbers, loop)
        loop.shutdown()
    }
}
