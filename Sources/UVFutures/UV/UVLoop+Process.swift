internal import CLibUV
internal import Futures
internal import Glibc

extension EventLoop {
    /// Returns the driver. Checks the thread, and throws `FutureError.shutDown` if the loop has been shut down.
    func openDriver() throws(FutureError) -> UVLoop {
        core.checkThread()
        guard !core.isShutDown else { throw .shutDown }
        return uv
    }
}

extension UVLoop {
    /// Ends the process if it is a child of the one that made the loop. The child would take the parent's events and
    /// close the parent's connections.
    @inline(__always)
    func checkProcess() {
        if forks != ForkWatch.count { Misuse.forked() }
    }

    /// Blocks SIGPIPE on the calling thread, which is about to turn the loop, if `blocksBrokenPipes`. Other code may
    /// have restored the signal's default effect.
    @inline(__always)
    func blockBrokenPipes() {
        if blocksBrokenPipes { block_broken_pipes() }
    }

    /// Makes a stream by `make`. For the first stream libuv opens a descriptor of the loop.
    @inline(__always)
    func makeStream(_ make: () -> CInt) -> CInt { hasStreams ? make() : makeFirstStream(make) }

    @inline(never)
    private func makeFirstStream(_ make: () -> CInt) -> CInt {
        hasStreams = true
        return StandardDescriptors.avoid(make)
    }
}

/// Makes a new libuv loop. The caller owns its memory.
func makeLoop() throws(UVError) -> UnsafeMutablePointer<uv_loop_t> {
    try StandardDescriptors.fill()
    // The loop's set, its ring, and a pipe that all loops share, without which libuv ends the process. For what else it
    // wants it asks in an orderly way.
    try checkFreeDescriptors(4, for: "loop")
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let status = unsafe uv_loop_init(loop)
    guard status != 0 else { return unsafe loop }
    // Up to 1.50 libuv leaves the set open.
    let left = unsafe uv_backend_fd(loop)
    if left > 2 { close(left) }
    unsafe loop.deallocate()
    throw UVError(status, "loop")
}
