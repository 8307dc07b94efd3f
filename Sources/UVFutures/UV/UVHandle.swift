internal import CLibUV
internal import Futures
internal import Glibc

/// A libuv handle that users hold, and its memory.
///
/// The one rule of its life: libuv holds one strong reference to this object, from a successful initialization until
/// the close callback. The memory is freed when all references are gone, so never before that callback. See
/// <https://docs.libuv.org/en/v1.x/design.html#handles-and-requests>.
@safe
class UVHandle {
    final let driver: UVLoop
    fileprivate final let memory: UnsafeMutableRawPointer

    // The list of the driver's open handles, each of which libuv keeps alive.
    fileprivate final var previous: Unmanaged<UVHandle>?
    fileprivate final var next: Unmanaged<UVHandle>?

    init<CHandle>(
        _ driver: UVLoop, _ type: uv_handle_type, _ operation: String,
        initialize: (UnsafeMutablePointer<uv_loop_t>?, UnsafeMutablePointer<CHandle>?) -> CInt
    ) throws(UVError) {
        driver.checkProcess()
        self.driver = driver
        // Not `allocate`, which asks for the alignment that `malloc` has anyway in a slower way.
        unsafe memory = malloc(uv_handle_size(type))!
        try UVError.check(unsafe initialize(driver.loop, memory(as: CHandle.self)), operation)
        unsafe handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        driver.opened(self)
    }

    deinit { unsafe free(memory) }

    final var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Returns the memory as the type that it was initialized as.
    @inline(__always)
    final func memory<CHandle>(as _: CHandle.Type) -> UnsafeMutablePointer<CHandle> {
        unsafe memory.assumingMemoryBound(to: CHandle.self)
    }

    @inline(__always)
    static func from(_ data: UnsafeMutableRawPointer?) -> Self {
        unsafe unsafeDowncast(Unmanaged<UVHandle>.fromOpaque(data!).takeUnretainedValue(), to: Self.self)
    }

    /// Like `from`, but for `body` alone and without reference counting. Not for a close callback: libuv's reference
    /// ends there.
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

    /// Whether the handle has been closed, here or, though it should not, by a host.
    final var isClosing: Bool { unsafe uv_is_closing(handle) != 0 }

    /// Closes the handle; `didClose` follows, from the loop. Does nothing the second time.
    final func close() {
        guard !isClosing else { return }
        driver.checkProcess()
        willClose()
        unsafe uv_close(handle) { handle in
            let object = unsafe Unmanaged<UVHandle>.fromOpaque(handle!.pointee.data).takeRetainedValue()
            object.driver.closed(object)
        }
    }

    /// Closes the handle and throws, if `status` is an error of libuv.
    final func closeUnlessDone(_ status: CInt, _ call: String, local: SocketAddress? = nil) throws(UVError) {
        if status == 0 { return }
        close()
        throw UVError(status, call, local: local)
    }

    /// Whether the handle counts as a connection in the loop's statistics.
    var isConnection: Bool { false }

    /// Ends a handle that is open when the loop is shut down.
    func abort() { close() }

    /// The descriptor that is closed with the handle, if there is one.
    var ownedDescriptor: CInt? { nil }

    /// A description in one line, for a person.
    var line: String { "handle" }

    /// Called before the descriptor is closed.
    func willClose() {}

    /// Called last, after the handle has been closed.
    func didClose() {}
}

/// The open handles of a loop, in a list that owns nothing.
@safe
struct UVHandleList {
    // Not `unowned(unsafe)`, each use of which counts a reference.
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
    /// Adds a handle. The event loop is retained while a handle is open.
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
    /// The handle as a `uv_handle_t`, with which every libuv handle begins.
    var asHandle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_handle_t.self)
    }
}
