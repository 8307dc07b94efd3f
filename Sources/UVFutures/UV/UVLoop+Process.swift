internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

extension EventLoop {
    /// The driver of this loop. Traps if the driver does not use libuv, as on a virtual loop.
    var uv: UVLoop {
        guard let driver = core.driver as? UVLoop else { trapForDescriptors() }
        return driver
    }
}

extension UVLoop {
    /// Ends the process if it is a child that a `fork` has made since the loop was made. Such a child would
    /// take the parent's events and close the parent's connections.
    @inline(__always)
    func checkProcess() {
        if forks != ForkWatch.count { Misuse.forked() }
    }

    /// Blocks SIGPIPE on the calling thread if `blocksBrokenPipes` is `true`. Called before the thread runs
    /// the loop, because other code may have restored the signal's default effect.
    @inline(__always)
    func blockBrokenPipes() {
        if blocksBrokenPipes { block_broken_pipes() }
    }

    /// Makes a stream by `make`, and returns the status. For the first stream, libuv also opens a descriptor
    /// that belongs to the loop.
    @inline(__always)
    func makeStream(_ make: () -> CInt) -> CInt { hasStreams ? make() : makeFirstStream(make) }

    @inline(never)
    private func makeFirstStream(_ make: () -> CInt) -> CInt {
        hasStreams = true
        return StandardDescriptors.avoid(make)
    }
}

/// Makes a new libuv loop. The caller owns its memory.
func makeLoop() throws(SystemError) -> UnsafeMutablePointer<uv_loop_t> {
    try StandardDescriptors.fill()
    // libuv ends the process if it cannot open these four descriptors: the loop's epoll set, its ring, and
    // both ends of a pipe that all loops share. For other descriptors, libuv returns an error.
    try checkFreeDescriptors(4, for: "loop")
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let status = unsafe uv_loop_init(loop)
    guard status != 0 else { return unsafe loop }
    // Up to version 1.50, libuv leaves the epoll set open.
    let left = unsafe uv_backend_fd(loop)
    if left > 2 { close(left) }
    unsafe loop.deallocate()
    throw SystemError(status, "loop")
}
