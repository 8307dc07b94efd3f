internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

/// A libuv handle that users hold, and its memory.
///
/// libuv holds one strong reference to this object, from a successful initialization until the close
/// callback. The last reference frees the memory. So the memory is never freed before that callback. See
/// <https://docs.libuv.org/en/v1.x/design.html#handles-and-requests>.
@safe
class UVHandle {
    final let driver: UVLoop
    fileprivate final let memory: UnsafeMutableRawPointer

    // The neighbours in the list of the driver's open handles. libuv keeps each of these handles alive.
    fileprivate final var previous: Unmanaged<UVHandle>?
    fileprivate final var next: Unmanaged<UVHandle>?

    init<CHandle>(
        _ driver: UVLoop, _ type: uv_handle_type, _ operation: String,
        initialize: (UnsafeMutablePointer<uv_loop_t>?, UnsafeMutablePointer<CHandle>?) -> CInt
    ) throws(SystemError) {
        driver.checkProcess()
        self.driver = driver
        // `allocate` would be slower: it asks for an alignment that `malloc` guarantees anyway.
        unsafe memory = malloc(uv_handle_size(type))!
        try SystemError.check(unsafe initialize(driver.loop, memory(as: CHandle.self)), operation)
        unsafe handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        driver.opened(self)
    }

    deinit { unsafe free(memory) }

    final var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Returns the memory as the libuv type that `init` has made there.
    @inline(__always)
    final func memory<CHandle>(as _: CHandle.Type) -> UnsafeMutablePointer<CHandle> {
        unsafe memory.assumingMemoryBound(to: CHandle.self)
    }

    @inline(__always)
    static func from(_ data: UnsafeMutableRawPointer?) -> Self {
        unsafe unsafeDowncast(Unmanaged<UVHandle>.fromOpaque(data!).takeUnretainedValue(), to: Self.self)
    }

    /// Calls `body` with the object of a handle, without reference counting. Do not call this in a close
    /// callback, because libuv's reference ends there.
    @inline(__always)
    static func with(_ data: UnsafeMutableRawPointer?, _ body: (Self) -> Void) {
        unsafe Unmanaged<UVHandle>.fromOpaque(data!)._withUnsafeGuaranteedRef {
            unsafe body(unsafeDowncast($0, to: Self.self))
        }
    }

    final var loop: LoopCore { driver.eventLoop }

    /// Runs `body` in a turn of the loop, without the reference counting that `loop` costs.
    @inline(__always)
    final func turn(_ body: () -> Void) {
        unsafe driver.eventLoopReference._withUnsafeGuaranteedRef { $0.turn(body) }
    }

    /// Whether the handle has been closed. A host should not close it, but may have done so.
    final var isClosing: Bool { unsafe uv_is_closing(handle) != 0 }

    /// Closes the handle. The loop calls `didClose` later. A second call does nothing.
    final func close() {
        guard !isClosing else { return }
        driver.checkProcess()
        willClose()
        unsafe uv_close(handle) { handle in
            let object = unsafe Unmanaged<UVHandle>.fromOpaque(handle!.pointee.data).takeRetainedValue()
            object.driver.closed(object)
        }
    }

    /// Closes the handle and throws `SystemError` if `status` is not 0. `call` is the operation that returned
    /// `status`.
    final func closeUnlessDone(_ status: CInt, _ call: String, local: SocketAddress? = nil)
        throws(SystemError)
    {
        if status == 0 { return }
        close()
        throw SystemError(status, call, local: local)
    }

    /// Whether the handle counts as a connection in the loop's statistics.
    var isConnection: Bool { false }

    /// Closes the handle, because the loop is being shut down.
    func abort() { close() }

    /// Called when other code has closed the adopted descriptor, and its number stands for something new. Closes the
    /// handle. Runs no user code, because the new object is not complete yet.
    func hasLostDescriptor() { abort() }

    /// The descriptor that closes together with the handle, or `nil`.
    var ownedDescriptor: CInt? { nil }

    /// The description of the handle in one line.
    var line: String { "handle" }

    /// Called before the handle and its descriptor are closed.
    func willClose() {}

    /// Called last, after the handle has been closed.
    func didClose() {}
}

/// The list of a loop's open handles. The list keeps no handle alive.
@safe
struct UVHandleList {
    // `unowned(unsafe)` would count a reference at each use.
    private var first: Unmanaged<UVHandle>?

    var isEmpty: Bool { unsafe first == nil }

    /// All handles, the newest first.
    var all: some Sequence<UVHandle> {
        unsafe sequence(state: first?.takeUnretainedValue()) { following in
            defer { unsafe following = following?.next?.takeUnretainedValue() }
            return following
        }
    }

    fileprivate mutating func add(_ handle: UVHandle) {
        let new = unsafe Unmanaged.passUnretained(handle)
        unsafe handle.next = first
        unsafe first?._withUnsafeGuaranteedRef { unsafe $0.previous = new }
        unsafe first = new
    }

    fileprivate mutating func remove(_ handle: UVHandle) {
        let (before, after) = unsafe (handle.previous, handle.next)
        if let before = unsafe before {
            unsafe before._withUnsafeGuaranteedRef { unsafe $0.next = after }
        } else {
            unsafe first = after
        }
        unsafe after?._withUnsafeGuaranteedRef { unsafe $0.previous = before }
    }
}

extension UVLoop {
    /// Adds a handle. Retains the event loop while at least one handle is open.
    fileprivate func opened(_ handle: UVHandle) {
        unsafe handles.add(handle)
        let eventLoop = eventLoop
        if eventLoop.liveHandles == 0 { unsafe _ = Unmanaged.passRetained(eventLoop) }
        eventLoop.count(handles: 1)
        if handle.isConnection { eventLoop.count(connections: 1) }
    }

    fileprivate func closed(_ handle: UVHandle) {
        unsafe handles.remove(handle)
        let eventLoop = eventLoop
        eventLoop.count(handles: -1)
        if handle.isConnection { eventLoop.count(connections: -1) }
        let isLast = eventLoop.liveHandles == 0
        eventLoop.turn { handle.didClose() }
        if isLast { unsafe Unmanaged.passUnretained(eventLoop).release() }
    }
}

extension UnsafeMutablePointer {
    /// The pointer as a pointer to `uv_handle_t`. The memory of every libuv handle begins with a
    /// `uv_handle_t`.
    var asHandle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_handle_t.self)
    }
}
