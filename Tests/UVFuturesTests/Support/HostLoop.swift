import CFuturesSystem
import CLibUV
import TestSupport
import Testing
import UVFutures

/// A host: a libuv loop of its own, to which event loops are attached.
@safe
final class HostLoop {
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)

    init() {
        let status = unsafe uv_loop_init(loop)
        precondition(status == 0)
    }

    deinit { unsafe loop.deallocate() }

    func attach() throws -> EventLoop {
        unsafe try EventLoop(attachingTo: loop, hostVersion: uv_version_string)
    }

    /// Runs for as long as something keeps the loop alive.
    func run() {
        let status = unsafe uv_run(loop, UV_RUN_DEFAULT)
        #expect(status == 0)
    }

    /// Runs until `future` completes, which something on the loop has to bring about.
    @discardableResult
    func run<Value>(until future: Future<Value>, sourceLocation: SourceLocation = #_sourceLocation) throws
        -> Value
    {
        future.whenComplete { _ in unsafe uv_stop(self.loop) }
        while future.result == nil, unsafe uv_run(loop, UV_RUN_DEFAULT) != 0 {}
        return try #require(future.result, sourceLocation: sourceLocation).get()
    }

    var isAlive: Bool { unsafe uv_loop_alive(loop) != 0 }

    /// The status of `uv_loop_close`: zero if nothing was left on the loop.
    func close() -> CInt { unsafe uv_loop_close(loop) }
}

/// Runs `body` with an event loop on a host's, detaches that, and proves that the host finds nothing left.
func withHost(sourceLocation: SourceLocation = #_sourceLocation, _ body: (HostLoop, EventLoop) throws -> Void)
    throws
{
    let host = HostLoop()
    weak var freed: LoopCore?
    do {
        let loop = try host.attach()
        freed = loop.core
        try body(host, loop)
        try host.run(until: loop.detach())
        let left = loop.statistics
        #expect(
            left.futures == 0 && left.promises == 0 && left.timers == 0 && left.handles == 0,
            sourceLocation: sourceLocation)
    }
    // A thread that resumed a task here may not have let go of the loop yet.
    #expect(eventually { freed == nil }, sourceLocation: sourceLocation)
    #expect(host.close() == 0, sourceLocation: sourceLocation)
}
