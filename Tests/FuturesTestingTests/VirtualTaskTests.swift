import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// A virtual loop goes with the task that uses it, from thread to thread.
struct VirtualTaskTests {
    @Test("tests that await something in between use one loop all the time", arguments: 0..<50)
    func moves(number: Int) async throws {
        let loop = EventLoop.virtual()
        let promise = loop.makePromise(of: Int.self)
        let body = Future(on: loop) {
            try await loop.sleep(for: .seconds(1)).value
            return number + (try await promise.future.value)
        }
        for _ in 0..<5 { await elsewhere() }
        loop.advance(by: .milliseconds(500))
        try await Task.sleep(for: .microseconds(1))
        promise.succeed(1)
        for _ in 0..<5 { await elsewhere() }
        #expect(!body.isCompleted)
        loop.advance(by: .milliseconds(500))
        #expect(try await body.value == number + 1)
        await Task.yield()
        #expect(try loop.run(until: loop.sleep(for: .seconds(3600)).map { 1 }) == 1)
        await elsewhere()
        loop.shutdown()
    }

    @MainActor @Test("a body in code of the main actor runs on a virtual loop, while that is driven there")
    func mainActor() async throws {
        let loop = EventLoop.virtual()
        var steps: [String] = []
        let body = Future(on: loop) {
            MainActor.assertIsolated()
            steps.append("began")
            try await loop.sleep(for: .seconds(1)).value
            MainActor.assertIsolated()
            steps.append("slept")
            return steps.count
        }
        #expect(steps.isEmpty)
        loop.advance(by: .zero)
        #expect(steps == ["began"])
        await elsewhere()
        loop.advance(by: .seconds(1))
        #expect(steps == ["began", "slept"])
        #expect(try loop.run(until: body) == 2)
        let second = Future(on: loop) { [loop] in
            await elsewhere()
            MainActor.assertIsolated()
            return loop.isCurrent
        }
        loop.advance(by: .zero)
        while !second.isCompleted {
            await Task.yield()
            loop.advance(by: .zero)
        }
        loop.shutdown()
    }

    @Test("a virtual loop that somebody drives is nobody else's")
    func twoAtOnce() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            loop.submit { useElsewhere(loop) }.ignoreFailure()
            loop.advance(by: .zero)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("This future, promise or timer was used on a thread of Swift's pool:"))
    }

    @Test(
        "a thread without a task does not get a virtual loop, be that made in a task or not",
        arguments: [true, false])
    func plainThread(inTask: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [inTask] in
            let loop = inTask ? EventLoop.virtual() : try onThread { EventLoop.virtual() }
            try onThread { _ = loop.succeeded(1) }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("This future, promise or timer was used off its event loop's thread."))
    }
}

@concurrent private func elsewhere() async { await Task.yield() }

/// Has another task use the loop, while this thread drives it.
private func useElsewhere(_ loop: EventLoop) {
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
        _ = loop.succeeded(1)
        ended.signal()
    }
    ended.wait()
}
