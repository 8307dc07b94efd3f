import Dispatch
import Futures
import Glibc
import TestSupport
import Testing
import UVFutures

struct LoopThreadTests {
    @Test("a loop runs on a thread of its own, by name, until it is shut down")
    func life() throws {
        let thread = try EventLoop.onNewThread(name: "the-name-is-too-long")
        #expect(thread.name == "the-name-is-too-long")
        try onThread {
            let name = try thread.loop.wait { thread.loop.succeeded(threadName()) }
            #expect(name == "the-name-is-too")
            let slept = try thread.loop.wait { thread.loop.sleep(for: .milliseconds(1)).map { 1 } }
            #expect(slept == 1)
            #expect(!thread.loop.isCurrent)
            thread.shutdown()
            thread.shutdown()
            thread.join()
            thread.join()
            #expect(!thread.loop.isCurrent)
            #expect(throws: FutureError.shutDown) { try thread.loop.wait { thread.loop.succeeded(1) } }
        }
    }

    @Test("the loop is its thread's from the start, and has been shut down when join returns")
    func owner() throws {
        for _ in 0..<20 {
            let thread = try EventLoop.onNewThread()
            #expect(!thread.loop.isCurrent)
            thread.shutdown()
            join(thread)
            #expect(!thread.loop.execute {})
        }
    }

    @Test("what is pending fails when the thread ends, and the loop is freed with the last handle")
    func pending() throws {
        weak var freed: LoopCore?
        func use() throws {
            let thread = try EventLoop.onNewThread()
            freed = thread.loop.core
            let started = DispatchSemaphore(value: 0)
            let group = DispatchGroup()
            startThread(of: group) {
                #expect(throws: FutureError.shutDown) {
                    try thread.loop.wait {
                        started.signal()
                        return thread.loop.sleep(for: .seconds(1000)).map { 1 }
                    }
                }
            }
            started.wait()
            thread.shutdown()
            group.wait()
            join(thread)
        }
        try use()
        #expect(eventually { freed == nil })
    }

    @Test("the thread goes on without its handle, and ends with stop")
    func withoutHandle() async throws {
        let loop = try EventLoop.onNewThread().loop
        let value = try await loop.run { loop.sleep(for: .milliseconds(1)).map { 1 } }
        #expect(value == 1)
        loop.stop()
        await #expect(throws: FutureError.shutDown) {
            while true { try await loop.run {} }
        }
    }

    @Test("loops on threads pass work on to each other")
    func chain() async throws {
        let threads = try (0..<3).map { try EventLoop.onNewThread(name: "loop \($0)") }
        let (a, b, c) = (threads[0].loop, threads[1].loop, threads[2].loop)
        let value = try await a.run {
            a.succeeded([a.isCurrent])
                .flatMap(on: .loop(b)) { seen in b.sleep(for: .zero).map { seen + [b.isCurrent] } }
                .flatMap(on: .loop(c)) { seen in c.succeeded(seen + [c.isCurrent]) }
                .map { $0 + [a.isCurrent] }
        }
        #expect(value == [true, true, true, true])
        for thread in threads { thread.shutdown() }
    }

    @Test("join on the loop's own thread")
    func joinItself() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try EventLoop.onNewThread()
            try await thread.loop.run { join(thread) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("join() was called on the loop's own thread, which would wait for itself."))
    }

    @Test("work for the main thread's loop, when there is none")
    func noMain() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            _ = RemoteContext.main.execute(on: loop) { 1 }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let sentence = """
            Work was given to the main thread's event loop before there was one. Ask for EventLoop.main on \
            the main thread first.
            """
        #expect(text.contains(sentence))
    }
}

private func threadName() -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
}

/// Not from a task, says the compiler; this test's own thread is no matter to others.
private func join(_ thread: LoopThread) { thread.join() }
