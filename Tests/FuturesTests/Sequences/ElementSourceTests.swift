import Futures
import FuturesTesting
import TestSupport
import Testing

struct ElementSourceTests {
    @Test("a body takes what is there without leaving its callback")
    func there() {
        with { asker, numbers, loop in
            asker.ready = [1, 2, 3]
            let seen = Record()
            let sum = Future(on: loop) {
                loop.submit { seen.add("other work") }.whenSuccess {}
                for try await number in numbers.prefix(3) { seen.add(number) }
            }
            loop.advance(by: .zero)
            #expect(sum.hasSucceeded)
            #expect(seen.entries == ["1", "2", "3", "other work"])
        }
    }

    @Test("a body that waits goes on within the call that delivers")
    func within() {
        with { asker, numbers, loop in
            let seen = Record()
            let done = Future(on: loop) { for try await number in numbers { seen.add(number) } }
            loop.advance(by: .zero)
            for number in 1...3 {
                loop.schedule(after: .zero) {
                    asker.deliver(number)
                    seen.add("delivered")
                }
            }
            loop.advance(by: .zero)
            #expect(seen.entries == ["1", "delivered", "2", "delivered", "3", "delivered"])
            asker.end()
            loop.advance(by: .zero)
            #expect(done.hasSucceeded)
        }
    }

    @Test("what a task delivers is taken after that task has gone on")
    func byTask() {
        with { asker, numbers, loop in
            let seen = Record()
            let first = Future(on: loop) {
                for try await number in numbers { return number }
                return 0
            }
            loop.advance(by: .zero)
            let other = Future(on: loop) {
                asker.deliver(7)
                seen.add(first.isCompleted)
            }
            loop.advance(by: .zero)
            #expect(other.hasSucceeded && first.now == 7)
            #expect(seen.entries == ["false"])
        }
    }

    @Test("cancelled while it waits, a body takes nothing, and another one gets what comes")
    func cancelled() {
        with { asker, numbers, loop in
            var error: (any Error)?
            let first = Future(on: loop) {
                do { for try await _ in numbers {} } catch let caught { error = caught }
            }
            loop.advance(by: .zero)
            #expect(asker.isAsked)
            first.cancel()
            #expect(!asker.isAsked)
            loop.advance(by: .zero)
            #expect(error is CancellationError)
            let second = Future(on: loop) {
                for try await number in numbers { return number }
                return 0
            }
            asker.ready = [4]
            loop.advance(by: .zero)
            #expect(second.now == 4)
        }
    }

    @Test("an end and a failure are told once, and nothing is asked after them", arguments: [false, true])
    func ends(fails: Bool) {
        with { asker, numbers, loop in
            let seen = Record()
            let done = Future(on: loop) {
                var iterator = numbers.makeAsyncIterator()
                do { seen.add(try await iterator.next()) } catch { seen.add(error) }
                seen.add(try await iterator.next())
            }
            loop.advance(by: .zero)
            if fails { asker.end(because: Oops()) } else { asker.end() }
            loop.advance(by: .zero)
            #expect(done.hasSucceeded)
            #expect(seen.entries == [fails ? "Oops()" : "nil", "nil"])
            #expect(asker.questions == 1)
        }
    }

    @Test("shutdown ends the wait of a body")
    func shutdown() {
        let loop = EventLoop.virtual()
        let asker = ScriptedAsker()
        var error: (any Error)?
        let done = Future(on: loop) {
            do { for try await _ in asker.numbers(on: loop) {} } catch let caught { error = caught }
        }
        loop.advance(by: .zero)
        loop.shutdown()
        #expect(done.isCompleted)
        #expect(error as? FutureError == .shutDown)
        #expect(!asker.isAsked)
    }

    @Test("code that is no body, and a second one at the same iterator, get their elements by futures")
    func byFutures() {
        with { asker, numbers, loop in
            asker.future = { loop.succeeded(100) }
            #expect(numbers.makeAsyncIterator().pull().now == 100)
            let iterator = numbers.makeAsyncIterator()
            let seen = SharedIterator(iterator)
            let first = Future(on: loop) { try await seen.nextOfCopy() }
            loop.advance(by: .zero)
            let second = Future(on: loop) { try await seen.nextOfCopy() }
            loop.advance(by: .zero)
            #expect(second.now == 100)
            asker.deliver(1)
            loop.advance(by: .zero)
            #expect(first.now == 1)
        }
    }

    @Test("a call that was cancelled leaves nothing behind for the next one at the same iterator")
    func leavesNothing() {
        with { asker, numbers, loop in
            asker.future = { loop.never() }
            let shared = SharedIterator(numbers.makeAsyncIterator())
            let seen = Record()
            let first = Future(on: loop) {
                _ = try? await loop.never(of: Void.self).value
                do { _ = try await shared.next() } catch { seen.add(error) }
            }
            loop.advance(by: .zero)
            first.cancel()
            loop.advance(by: .zero)
            let second = Future(on: loop) {
                while let number = try await shared.next() { seen.add(number) }
                seen.add("end")
            }
            loop.advance(by: .zero)
            asker.deliver(1)
            loop.advance(by: .zero)
            asker.end()
            loop.advance(by: .zero)
            #expect(second.hasSucceeded)
            #expect(seen.entries == ["CancellationError()", "1", "end"])
        }
    }

    @Test("a copy of an iterator whose source has stopped takes nobody's failure")
    func stopped() {
        with { asker, numbers, loop in
            asker.future = { loop.failed(Oops()) }
            let shared = SharedIterator(numbers.makeAsyncIterator())
            let seen = Record()
            let first = Future(on: loop) {
                do { _ = try await shared.nextOfCopy() } catch { seen.add("first: \(error)") }
            }
            loop.advance(by: .zero)
            let second = Future(on: loop) {
                do { _ = try await shared.nextOfCopy() } catch { seen.add("second: \(error)") }
                asker.end(because: Failure(1))
                seen.add(try await shared.nextOfCopy())
            }
            loop.advance(by: .zero)
            #expect(first.hasSucceeded && second.hasSucceeded)
            #expect(seen.entries == ["second: Oops()", "nil", "first: Failure(code: 1)"])
        }
    }

    private func with(_ body: (ScriptedAsker, LoopSequence<Int>, EventLoop) -> Void) {
        let loop = EventLoop.virtual()
        let asker = ScriptedAsker()
        body(asker, asker.numbers(on: loop), loop)
        loop.shutdown()
    }
}

private struct Oops: Error {}

/// Delivers what a test says. By a future it delivers 100.
final class ScriptedAsker: ElementAsker {
    var ready: [Int] = []
    var subject: String? { nil }
    private(set) var isAsked = false
    private(set) var questions = 0
    var future: () -> Future<Int?> = { fatalError("No future is asked for.") }
    private weak var source: ElementSource<Int>?

    func numbers(on loop: EventLoop) -> LoopSequence<Int> {
        LoopSequence(on: loop) {
            LoopSequence.AsyncIterator(asking: self, on: loop, next: { self.future() })
        }
    }

    func ask(for wait: ElementWait) -> Bool {
        source = (wait as! ElementSource<Int>)
        questions += 1
        if ready.isEmpty { isAsked = true } else { source?.deliver(ready.removeFirst()) }
        return true
    }

    func stopAsking(for wait: ElementWait) { isAsked = false }

    func deliver(_ number: Int) {
        guard isAsked else { return ready.append(number) }
        isAsked = false
        source?.deliver(number)
    }

    func end(because error: (any Error)? = nil) {
        isAsked = false
        source?.end(because: error)
    }
}
