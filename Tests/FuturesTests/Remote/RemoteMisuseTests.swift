import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// What mistakes with other threads are answered with: the process ends with a sentence, in release too.
struct RemoteMisuseTests {
    private func expect(
        _ sentence: String, in result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(sentence), sourceLocation: sourceLocation)
    }

    @Test("a wait on the loop's own thread", arguments: Driver.allCases)
    func waitOnLoop(driver: Driver) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [driver] in
            let loop = try driver.makeLoop()
            _ = try loop.run(until: loop.submit { try loop.wait { loop.succeeded(1) } })
        }
        expect(
            "wait was called on the event loop's own thread, which would block the loop. Register a "
                + "callback with whenComplete instead, or use run(until:) outside of all callbacks.",
            in: result)
    }

    @Test(
        "a job that no loop waits for, or that is started on another thread than its loop's", arguments: 0..<4
    )
    func noLoop(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let loop = EventLoop.virtual()
            let promise = loop.makeRemotePromise(of: Int.self)
            try onThread {
                switch call {
                case 0: _ = RemoteContext.default.execute { 1 }
                case 1: _ = RemoteContext.default.execute(on: loop) { 1 }
                case 2: _ = promise.future
                default: _ = loop.makeRemotePromise(of: Int.self).future
                }
            }
        }
        expect(
            call == 0
                ? "execute was called on a thread without an event loop, so its future would have no loop. "
                    + "Add the argument on: loop, or call it from a loop's callback."
                : "This future, promise or timer was used off its event loop's thread.", in: result)
    }

    @Test("a barrier asked of a context without order")
    func noBarrier() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RemoteContext.custom(name: "mine") { $0() }.barrier
        }
        expect(
            "A barrier was requested from mine, which does not start its jobs in order. Use a Dispatch queue, or "
                + "make a context with .limited(maxConcurrent:on:).", in: result)
    }

    @Test("a future of another loop than the one that a thread or a task waits on")
    func foreignWait() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            loop.core.hold()
            let group = DispatchGroup()
            startThread(of: group) { _ = try? loop.wait { other.succeeded(1) } }
            try loop.run()
        }
        expect(
            "A future of another event loop was given where a future of this loop is needed.",
            in: result)
    }
}
