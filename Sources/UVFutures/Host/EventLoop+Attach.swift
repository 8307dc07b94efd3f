internal import CFuturesSystem
internal import CLibUV
public import Futures
internal import SystemIO

extension EventLoop {
    /// Creates an event loop that uses the libuv loop of a host. A host is a program that runs a libuv loop of
    /// its own, such as a C program, Node.js, uvloop or Neovim.
    ///
    /// `loop` is the host's `uv_loop_t *`, which must be initialized. `host` is the address of the host's own
    /// `uv_version_string`. A process may contain several copies of libuv, and only the copy that made a loop can
    /// use that loop. Throws ``LibUVMismatch`` if `host` does not belong to the copy that this library calls.
    ///
    /// Call this initializer on the thread that runs the host's loop. The event loop then belongs to that
    /// thread. The host continues to run its own loop: this library never runs, stops or closes that loop,
    /// and never goes through the handles of the loop. While nothing is pending, the event loop does not keep
    /// the host's loop alive.
    ///
    /// Unlike `EventLoop()`, this initializer does not change the effect of SIGPIPE, and does not open
    /// descriptors 0 to 2 if they are closed.
    ///
    /// To end the event loop, call ``Futures/EventLoop/detach()``, and wait for its future. If the thread ends
    /// before that, the process traps. A shared library that contains this code stays loaded until the process
    /// ends.
    ///
    /// Binds [`uv_async_init`](https://docs.libuv.org/en/v1.x/async.html) and similar functions on the host's
    /// loop.
    public convenience init(
        attachingTo loop: UnsafeMutableRawPointer,
        hostVersion host: @convention(c) () -> UnsafePointer<CChar>?
    ) throws(LibUVMismatch) {
        LoadedFile.keepOwn()
        let copies = unsafe LibUVMismatch(
            host: LibUVCopy(versionString: host), own: LibUVCopy(versionString: uv_version_string))
        if copies.host != copies.own { throw copies }
        let driver = unsafe UVLoop(loop.assumingMemoryBound(to: uv_loop_t.self), isAttached: true)
        let core = LoopCore(on: driver, isAttached: true)
        unsafe driver.eventLoopReference = Unmanaged.passUnretained(core)
        self.init(owning: core)
    }
}

extension LibUVCopy {
    /// Finds the copy of libuv to which `versionString` belongs. `versionString` is the `uv_version_string`
    /// of that copy.
    fileprivate init(versionString: @convention(c) () -> UnsafePointer<CChar>?) {
        version = unsafe versionString().map { unsafe String(cString: $0) } ?? "of no version"
        var file = unsafe loaded_file()
        let function = unsafe unsafeBitCast(versionString, to: UnsafeRawPointer.self)
        let isKnown = unsafe find_loaded_file(function, &file) != 0
        path = unsafe isKnown ? String(cString: file.path) : "an unknown file"
        address = unsafe isKnown ? UInt(bitPattern: file.base) : 0
    }
}
