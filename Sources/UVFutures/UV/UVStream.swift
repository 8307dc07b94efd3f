internal import ByteStreams
internal import CLibUV
internal import FoundationEssentials

/// A libuv stream as what carries a `ByteStream`.
class UVStream: UVHandle, ByteTransport {
    private final unowned(unsafe) var stream: ByteStream?

    final var localAddress: SocketAddress?
    final var peerAddress: SocketAddress?

    fileprivate final var uvStream: UnsafeMutablePointer<uv_stream_t> { unsafe memory(as: uv_stream_t.self) }

    final func error(_ status: CInt, _ operation: String) -> UVError {
        UVError(status, operation, local: localAddress, peer: peerAddress)
    }

    /// Calls `stream` from now on. A stream that goes puts `nil` in its place.
    final func serve(_ stream: ByteStream?) { unsafe self.stream = stream }

    // MARK: Reading

    final func startReading() throws {
        let status = unsafe uv_read_start(
            uvStream,
            { handle, _, buffer in unsafe UVStream.from(handle!.pointee.data).provide(buffer!) },
            { handle, count, _ in unsafe UVStream.from(handle!.pointee.data).didRead(count) })
        if status != 0 { throw error(status, "read") }
    }

    final func stopReading() {
        unsafe uv_read_stop(uvStream)
    }

    private final func provide(_ buffer: UnsafeMutablePointer<uv_buf_t>) {
        let block = unsafe driver.readBlock.prepare()
        unsafe buffer.pointee = uv_buf_t(block)
    }

    private final func didRead(_ count: Int) {
        // Zero means that there was nothing to read after all.
        guard count != 0 else { return }
        loop.turn {
            if count > 0 {
                let data = unsafe driver.readBlock.take(count)
                return unsafe stream?.transportDidRead(data) ?? ()
            }
            // At once, before anybody can return to libuv: what has ended is ready to be read for ever.
            stopReading()
            let status = CInt(count)
            if status == UV_EOF.rawValue {
                unsafe stream?.transportDidReachEnd()
            } else {
                unsafe stream?.transportDidFail(error(status, "read"))
            }
        }
    }

    // MARK: Writing

    final func tryWrite(_ data: Data) throws -> Int {
        let status = unsafe data.withUnsafeBytes { bytes in
            var buffer = unsafe uv_buf_t(reading: bytes)
            return unsafe uv_try_write(uvStream, &buffer, 1)
        }
        return try written(status)
    }

    final func tryWrite(_ buffers: [Data]) throws -> Int {
        let write = driver.writes.take()
        defer { driver.writes.put(write) }
        return try unsafe written(write.withBuffers(buffers) { unsafe uv_try_write(uvStream, $0, $1) })
    }

    private final func written(_ status: CInt) throws -> Int {
        if status >= 0 { return Int(status) }
        if status == UV_EAGAIN.rawValue { return 0 }
        throw error(status, "write")
    }

    final func write(_ buffers: [Data]) {
        let write = driver.writes.take()
        let status = write.start(buffers, on: self)
        guard status != 0 else { return }
        driver.writes.put(write)
        answerLater { $0.didWrite(status) }
    }

    final func didWrite(_ status: CInt) {
        unsafe stream?.transportDidWrite(failure: status == 0 ? nil : error(status, "write"))
    }

    final var unwrittenBytes: Int { unsafe uv_stream_get_write_queue_size(uvStream) }

    final func shutdownWrite() {
        let request = UVStatusRequest(driver, UV_SHUTDOWN) { [self] in didShutDown($0) }
        let status = request.submit {
            unsafe uv_shutdown(request.memory(as: uv_shutdown_t.self), uvStream) { request, status in
                unsafe UVStatusRequest.completed(request!.pointee.data).complete(status)
            }
        }
        if status != 0 { answerLater { $0.didShutDown(status) } }
    }

    private final func didShutDown(_ status: CInt) {
        let hasGone = status == UV_ENOTCONN.rawValue || status == UV_ECONNRESET.rawValue
        unsafe stream?.transportDidShutdown(failure: status == 0 || hasGone ? nil : error(status, "shutdown"))
    }

    /// The answer to a request that libuv refused at once.
    private final func answerLater(_ answer: @escaping (UVStream) -> Void) {
        loop.submit { [self] in answer(self) }.ignoreFailure()
    }

    // MARK: Closing

    func close(resetting: Bool) {
        close()
    }

    override func abort() {
        close(resetting: true)
    }

    override func didClose() {
        unsafe stream?.transportDidClose()
    }
}
