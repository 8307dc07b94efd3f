internal import ByteStreams
internal import CLibUV
internal import FoundationEssentials
internal import Futures
internal import Glibc
internal import SystemIO

/// The transport of a `ByteStream` over a file, or over a device that never makes a caller wait. The thread
/// pool reads and writes at the current position of the descriptor. Each direction has one operation at a
/// time.
///
/// The libuv handle has one purpose: the loop closes the file at shutdown.
final class UVFile: UVHandle, StreamCarrier {
    private let descriptor: CInt
    private unowned(unsafe) var stream: ByteStream?
    private var isReading = false
    private var block = UVReadBlock()
    private var reading: UVResultRequest?
    private var writing: UVResultRequest?
    private var batch: [Data] = []
    private var isEnding = false

    /// Creates a file that takes over `descriptor`. If this throws, the caller keeps the descriptor.
    init(_ driver: UVLoop, adopting descriptor: CInt) throws(SystemError) {
        self.descriptor = descriptor
        try unsafe super.init(driver, UV_IDLE, "adopt", initialize: uv_idle_init)
    }

    override var isConnection: Bool { true }

    func serve(_ stream: ByteStream?) { unsafe self.stream = stream }

    // MARK: Reading

    func startReading() throws {
        isReading = true
        read()
    }

    /// Called only while the stream gets bytes, so that no read is in progress.
    func stopReading() { isReading = false }

    private func read() {
        let request = UVResultRequest(driver, UV_FS) { [self] in didRead($0) }
        var buffer = unsafe uv_buf_t(block.prepare())
        do throws(SystemError) {
            try UVPoolThreads.check()
            let status = request.submit {
                unsafe uv_fs_read(driver.loop, request.file, descriptor, &buffer, 1, -1, fileCallback)
            }
            try SystemError.check(status, "read")
            reading = request
        } catch {
            loop.later { [self] in if !isEnding { failRead(error) } }
        }
    }

    private func didRead(_ count: Int) {
        reading = nil
        guard !isEnding else { return closeIfDone() }
        if count > 0 {
            let data = block.take(count)
            block.noteRead(count)
            unsafe stream?.transportDidRead(data)
            if isReading, reading == nil, !isEnding { read() }
        } else if count == 0 {
            unsafe stream?.transportDidReachEnd()
        } else if count == Int(UV_EAGAIN.rawValue) || count == Int(UV_EINTR.rawValue) {
            read()
        } else {
            failRead(SystemError(CInt(count), "read"))
        }
    }

    private func failRead(_ error: SystemError) { unsafe stream?.transportDidFail(error) }

    // MARK: Writing

    /// Returns 0, because the thread pool does all writes.
    func tryWrite(_ bytes: RawSpan) throws -> Int { 0 }
    func tryWrite(_ buffers: [Data]) throws -> Int { 0 }

    func write(_ buffers: [Data]) {
        batch = buffers
        writeRest()
    }

    private func writeRest() {
        let bytes = driver.writes.take()
        let request = UVResultRequest(driver, UV_FS) { [self] in didWrite($0, bytes) }
        writing = request
        do throws(SystemError) {
            try UVPoolThreads.check()
            let status = unsafe bytes.withBuffers(batch) { buffers, count in
                request.submit {
                    unsafe uv_fs_write(
                        driver.loop, request.file, descriptor, buffers, count, -1, fileCallback)
                }
            }
            try SystemError.check(status, "write")
        } catch {
            loop.later { [self] in
                driver.writes.put(bytes)
                failWrite(error)
            }
        }
    }

    private func failWrite(_ error: SystemError) {
        writing = nil
        guard !isEnding else { return closeIfDone() }
        batch = []
        unsafe stream?.transportDidWrite(failure: error)
    }

    private func didWrite(_ count: Int, _ bytes: UVWrite) {
        driver.writes.put(bytes)
        writing = nil
        guard !isEnding else { return closeIfDone() }
        if count == Int(UV_EINTR.rawValue) || count == Int(UV_EAGAIN.rawValue) { return writeRest() }
        // A file that takes nothing and gives no error would be asked for ever.
        guard count > 0 || count == 0 && unwrittenBytes == 0 else {
            return failWrite(
                count == 0 ? SystemError(.inputOutput, "write") : SystemError(CInt(count), "write"))
        }
        batch = batch.dropping(count)
        if batch.isEmpty { unsafe stream?.transportDidWrite(failure: nil) } else { writeRest() }
    }

    var unwrittenBytes: Int { batch.reduce(0) { $0 + $1.count } }

    func shutdownWrite() { loop.later { [self] in unsafe stream?.transportDidShutdown(failure: nil) } }

    // MARK: Closing

    /// Closes the file. Operations that the pool has begun end first, because they use the descriptor.
    func close(resetting: Bool) {
        guard !isEnding else { return }
        isEnding = true
        batch = []
        reading?.cancel()
        writing?.cancel()
        closeIfDone()
    }

    private func closeIfDone() {
        if reading == nil, writing == nil { close() }
    }

    override func abort() { close(resetting: true) }

    override var ownedDescriptor: CInt? { descriptor }

    override var line: String { "file of descriptor \(descriptor)" }

    override func didClose() {
        Glibc.close(descriptor)
        unsafe stream?.transportDidClose()
    }
}

extension UVResultRequest {
    /// The request for a read or a write in the thread pool. See <https://docs.libuv.org/en/v1.x/fs.html>.
    fileprivate var file: UnsafeMutablePointer<uv_fs_t> { unsafe memory(as: uv_fs_t.self) }
}

private let fileCallback: uv_fs_cb = { file in
    let request = unsafe UVResultRequest.completed(file!.pointee.data)
    let result = unsafe file!.pointee.result
    unsafe uv_fs_req_cleanup(file)
    request.complete(result)
}
