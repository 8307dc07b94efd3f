internal import CLibUV
public import Futures

extension EventLoop {
    /// A loop on the libuv loop of a host: a C program, Node.js, uvloop, Neovim.
    ///
    /// `loop` is the host's `uv_loop_t *`, initialized, and `host` the address of the host's own `uv_version_string`.
    /// A libuv loop can only be used by the copy of libuv that made it, and a process may hold several: fails with
    /// ``LibUVMismatch`` if that function is not of the copy that this library calls.
    ///
    /// To be called on the thread that runs the host's loop, to which the event loop then belongs. The host goes on
    /// to run its loop, which is never run, stopped, closed or walked here, nor is the effect of a signal like SIGPIPE
    /// changed, or a descriptor of 0 to 2 opened that is closed. As long as nothing is pending the host's loop is not kept
    /// alive. End with ``Futures/EventLoop/detach()``: a thread that ends before the future of that has completed traps. A
    /// library that holds this code stays loaded.
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
    /// The copy that `versionString`, its `uv_version_string`, is part of.
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
