internal import CLibUV

/// A libuv request and its memory, for one operation.
///
/// libuv holds one strong reference from a successful submission until the callback, and never calls back
/// after a submission that failed.
@safe
class UVRequest {
    fileprivate final let memory: UnsafeMutableRawPointer

    init(_ type: uv_req_type) { unsafe memory = .allocate(byteCount: uv_req_size(type), alignment: 16) }

    deinit { unsafe memory.deallocate() }

    @inline(__always)
    final func memory<CRequest>(as _: CRequest.Type) -> UnsafeMutablePointer<CRequest> {
        unsafe memory.assumingMemoryBound(to: CRequest.self)
    }

    /// Submits the request by `call`, and returns the status of libuv that `call` returns.
    final func submit(_ call: () -> CInt) -> CInt {
        let reference = unsafe Unmanaged.passRetained(self)
        unsafe memory(as: uv_req_t.self).pointee.data = reference.toOpaque()
        let status = call()
        if status != 0 { unsafe reference.release() }
        return status
    }

    /// Cancels the operation, if the thread pool has not begun it.
    final func cancel() { unsafe _ = uv_cancel(memory(as: uv_req_t.self)) }

    /// Returns the object of a request in its callback, and takes over libuv's reference.
    static func completed(_ data: UnsafeMutableRawPointer?) -> Self {
        unsafe unsafeDowncast(Unmanaged<UVRequest>.fromOpaque(data!).takeRetainedValue(), to: Self.self)
    }

    /// Returns the object of a request that has not called back yet.
    static func pending(_ data: UnsafeMutableRawPointer?) -> Self {
        unsafe unsafeDowncast(Unmanaged<UVRequest>.fromOpaque(data!).takeUnretainedValue(), to: Self.self)
    }
}

/// A request that passes one number from libuv to `completion`: the status of a connect or a shutdown, or the result of
/// a file operation.
final class UVResultRequest: UVRequest {
    private let driver: UVLoop
    private let completion: (Int) -> Void

    init(_ driver: UVLoop, _ type: uv_req_type, completion: @escaping (Int) -> Void) {
        self.driver = driver
        self.completion = completion
        super.init(type)
    }

    func complete(_ result: Int) { driver.eventLoop.turn { completion(result) } }
}
