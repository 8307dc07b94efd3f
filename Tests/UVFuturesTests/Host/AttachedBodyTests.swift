import Dispatch
import TestSupport
import Testing
import UVFutures

struct AttachedBodyTests {
    @Test("detach cancels the asynchronous bodies of a loop, and completes when they have ended")
    func detach() throws {
        try withHost { host, loop in
            let elsewhere = DispatchGroup()
            var seen: [Bool] = []
            let body = Future<Void>(on: loop) {
                await outlastCancellation(elsewhere)
                seen = [loop.isCurrent, Task.isCancelled]
            }
            try host.run(until: loop.submit {})
            #expect(host.isAlive)
            let detached = loop.detach()
            try host.run(until: detached)
            #expect(seen == [true, true])
            #expect("\(body)" == "Future(failure: \(FutureError.shutDown))")
            elsewhere.wait()
        }
    }
}
