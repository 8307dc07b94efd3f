internal import CLibUV
public import Futures

extension EventLoop {
    /// Creates a loop on the libuv loop of a host: a C program, Node.js, uvloop, Neovim.
    ///
    /// `loop` is the host's `uv_loop_t *`, initialized, and `host` is the address of the host's own
    /// `uv_version_string`. Only the copy of libuv that made a loop can use it, and a process may hold several copies.
    /// Fails with ``LibUVMismatch`` if `host` does not belong to the copy that this library calls.
    ///
    /// Call it on the thread that runs the host's loop; the event loop then belongs to that thread. The host continues
    /// to run its loop. This library never runs, stops, closes or walks it. It does not change the effect of a signal
    /// like SIGPIPE, and does not open closed descriptors of 0 to 2. While nothing is pending, it does not keep the
    /// host's loop alive. End with ``Futures/EventLoop/detach()``: a thread that ends before that future completes
    /// traps. A library that holds this code stays loaded.
    ///
    /// Binds [`uv_async_init`](https://docs.libuv.org/en/v1.x/async.html) and its like on the host's loop.
    public convenience init(
        attachingTo loop: UnsafeMutableRawPointer,
        hostVersion host: @convention(c) () -> UnsafePointer<CChar>?
    ) throws(LibUVMismatch) {
        LoadedFile.keepOwn()
        let copies = unsafe LibUVMismatch(
            host: LibUVCopy(versionString: host), own: LibUVCopy(versionString: uv_version_string))
        if copies.host != copies.own { throw copies }
        let driver = unsafe UVLoop(loop.assumingMemoryBound(to: uv_loop_t.self), isAttached: true)
        let core = LoopCore(driver: driver, isAttached: true)
        unsafe driver.eventLoopReference = Unmanaged.passUnretained(core)
        self.init(owning: core)
    }
}

extension LibUVCopy {
    /// Finds the copy of libuv that contains `versionString`, its `uv_version_string`.
    fileprivate init(versionString: @convention(c) () -> UnsafePointer<CChar>?) {
        version = unsafe versionString().map { unsafe String(cString: $0) } ?? "of no version"
        var file = unsafe loaded_file()
        let isKnown =
            unsafe find_loaded_file(
                unsafeBitCast(versionString, to: UnsafeRawPointer.self), &file) != 0
        path = unsafe isKnown ? String(cString: file.path) : "an unknown file"
        address = unsafe isKnown ? UInt(bitPattern: file.base) : 0
    }
}
