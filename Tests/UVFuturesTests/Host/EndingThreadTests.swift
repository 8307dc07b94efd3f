import Dispatch
import TestSupport
import Testing
import UVFutures

/// Threads of a host that end.
struct EndingThreadTests {
    enum Forgotten: CaseIterable, Codable { case detach, itsFuture }

    @Test("a thread that ends while a loop is attached to its host's traps", arguments: Forgotten.allCases)
    func forgotten(what: Forgotten) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [what] in
            let group = DispatchGroup()
            startThread(of: group) {
                let host = HostLoop()
                let loop = try! host.attach()
                if what == .itsFuture { loop.detach().ignoreFailure() }
                unsafe _ = Unmanaged.passRetained(loop)
            }
            group.wait()
            // It may still be at its end.
            _ = eventually { false }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "A thread has ended while an event loop was attached to its host's loop. Call detach() first, and let "
                    + "the host run its loop until the future of that completes."))
    }

    @Test("a thread whose loop was detached, or is its own, ends")
    func detached() throws {
        try onThread { try withHost { _, loop in _ = loop.submit {} } }
        let loop = try onThread { try EventLoop() }
        try loop.run()
        loop.shutdown()
    }
}
