internal import ByteStreams
internal import CLibUV
internal import FoundationEssentials
internal import Glibc
internal import SystemIO

/// A libuv stream as the carrier of a `ByteStream`.
class UVStream: UVHandle, SocketTransport {
    /// Whether libuv watches the descriptor for incoming data.
    private(set) final var isReading = false
    /// Whether the user has handed over the socket. Other code can then close the descriptor at any time. At
    /// this position among the properties, it takes no additional memory.
    final var isAdopted = false
    /// The last error that the system has reported for the connection, or 0. The system reports an error only
    /// once.
    private final var keptError: CInt = 0
    /// The descriptor that `UVHangUps` watches for this stream, or -1: an optional would take more memory.
    final var watchedDescriptor: CInt = -1
    /// The index of the connection in the list of its server. At this position among the properties, it takes
    /// no additional memory.
    final var place: UInt32 = 0

    private final unowned(unsafe) var stream: ByteStream?
    final var localAddress: SocketAddress?
    final var peerAddress: SocketAddress?

    final var uvStream: UnsafeMutablePointer<uv_stream_t> { unsafe memory(as: uv_stream_t.self) }

    /// The descriptor of the stream. `nil` if the stream has none yet, or is closed.
    final var descriptor: CInt? {
        var descriptor: uv_os_fd_t = -1
        return unsafe !isClosing && uv_fileno(handle, &descriptor) == 0 ? descriptor : nil
    }

    final var hasArrivals: Bool { peek() >= 0 }

    final func nextNumber() -> UInt64 { driver.numbers.next() }

    @inline(never)
    final func error(_ status: CInt, _ operation: String) -> SystemError {
        SystemError(status, operation, local: localAddress, peer: peerAddress)
    }

    final func serve(_ stream: ByteStream?) {
        unsafe self.stream = stream
        if stream != nil { watchForHangUp() }
    }

    // MARK: Reading

    final func startReading() throws {
        if isAdopted, let lost { throw error(lost, "read") }
        let status = unsafe uv_read_start(
            uvStream,
            { handle, _, buffer in unsafe UVStream.with(handle!.pointee.data) { unsafe $0.provide(buffer!) }
            },
            { handle, count, buffer in
                unsafe UVStream.with(handle!.pointee.data) { unsafe $0.didRead(count, buffer!) }
            })
        if status != 0 { throw error(status, "read") }
        isReading = true
    }

    final func stopReading() {
        endReading()
        watchForHangUp()
    }

    private final func endReading() {
        unsafe uv_read_stop(uvStream)
        isReading = false
    }

    /// Watches for a hang-up. libuv reports no hang-up while the stream neither reads nor writes.
    final func watchForHangUp() { if watchedDescriptor < 0, !isClosing { driver.hangUps.add(self) } }

    /// Called by `UVHangUps` when the connection has hung up or broken.
    final func hasHungUp() {
        // While libuv reads, libuv itself reports the hang-up, except for a reset after the end. The epoll
        // set reports each change only once. So the descriptor leaves the set, and can enter it again later.
        guard !isReading else { return driver.hangUps.remove(self) }
        // A write that waits in libuv is told of the error by libuv, maybe after this.
        guard !isClosing, unwrittenBytes == 0, let pending = pendingError else { return }
        // After the end of the peer's bytes, the system reports a reset as EPIPE.
        let status = pending == EPIPE ? ECONNRESET : pending
        loop.turn { unsafe stream?.transportDidFail(error(-status, "read")) }
    }

    /// The error of the connection, or `nil`. Asks the system if no error is known.
    private final var pendingError: CInt? {
        if keptError != 0 { return keptError }
        guard let descriptor = soundDescriptor, let error = socketOption(SO_ERROR, of: descriptor) else {
            return nil
        }
        return error != 0 ? error : nil
    }

    /// Returns what a read of a socket would find: 1 if there are bytes, 0 at the end, or else a negated `errno`.
    private final func peek() -> CInt {
        guard let descriptor = soundDescriptor else { return -EBADF }
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
        guard count < 0 else { return count == 0 ? -keptError : 1 }
        let error = errno
        if error != EAGAIN && error != ENOTSOCK { keptError = error }
        return -error
    }

    private final var hasBytes: Bool {
        let found = peek()
        guard found == -ENOTSOCK, let descriptor else { return found > 0 }
        return events(of: descriptor) & POLLIN != 0
    }

    /// Gives libuv memory to read into. Gives none to a stream that has had its share: libuv then reads nothing more,
    /// looks at all descriptors, and comes back. Stopping and restarting the watch would take two system calls.
    private final func provide(_ buffer: UnsafeMutablePointer<uv_buf_t>) {
        if unsafe driver.readShare.isWatched, givesWay() {
            unsafe buffer.pointee = uv_buf_t()
        } else {
            unsafe buffer.pointee = uv_buf_t(driver.readBlock.prepare())
        }
    }

    /// Whether this stream has filled the block again and again, until its share was used up.
    @inline(never)
    private final func givesWay() -> Bool {
        let goesOn = unsafe driver.readShare.belongs(to: self) && driver.readBlock.filled > 0
        if goesOn, unsafe loop.clock < driver.readShare.end { return false }
        unsafe driver.readShare.stop()
        return goesOn
    }

    private final func didRead(_ count: Int, _ buffer: UnsafePointer<uv_buf_t>) {
        if count > 0 { return turn { didRead(bytes: count) } }
        // Zero means that there was nothing to read after all. Without a buffer, the stream has had its share.
        let hasGivenWay = unsafe count == Int(UV_ENOBUFS.rawValue) && buffer.pointee.base == nil
        if count == 0 || hasGivenWay { return unsafe driver.readBlock.noteRead() }
        unsafe didEnd(CInt(count), buffer)
    }

    @inline(never)
    private final func didEnd(_ status: CInt, _ buffer: UnsafePointer<uv_buf_t>) {
        // Before version 1.52, libuv takes a short read after a hang-up for the last one, and gives no buffer with such
        // an end. But a terminal, a pipe of packets, and a socket with descriptors between its bytes may have more.
        if status == UV_EOF.rawValue, unsafe buffer.pointee.base == nil, hasBytes,
            (try? startReading()) != nil
        {
            return
        }
        turn {
            // Stops before user code can run the loop. A stream at its end is ready for a read for ever.
            endReading()
            // libuv reports each hang-up as the end, also the hang-up by a reset.
            let hangUp = status == UV_EOF.rawValue ? peek() : status
            if hangUp == 0 || ends.contains(hangUp) {
                unsafe stream?.transportDidReachEnd()
            } else {
                unsafe stream?.transportDidFail(error(hangUp, "read"))
            }
        }
        // Does nothing if the stream has been closed by now, as it mostly has.
        watchForHangUp()
    }

    /// The errors by which a read or `peek` reports the end of a stream that was not reset.
    var ends: [CInt] { [-EAGAIN, -EBADF, -ENOTSOCK] }

    @inline(__always)
    private final func didRead(bytes count: Int) {
        if unsafe count == driver.readBlock.size { return didFillBlock(count) }
        didRead(lending: count)
        unsafe driver.readBlock.noteRead()
    }

    /// Takes a block that is full: libuv reads again at once, and the peer may send without end.
    @inline(never)
    private final func didFillBlock(_ count: Int) {
        let goesOn = unsafe driver.readShare.belongs(to: self) && driver.readBlock.filled > 0
        if !goesOn { unsafe driver.readShare.begin(self, until: loop.endOfShare) }
        // Reading the bytes and handling them share the time.
        unsafe loop.watchTurn(until: driver.readShare.end)
        didRead(lending: count)
        unsafe driver.readBlock.noteFullRead()
    }

    @inline(__always)
    private final func didRead(lending count: Int) {
        let bytes = unsafe RawSpan(_unsafeBytes: driver.readBlock.bytes(count))
        unsafe stream?.transportDidRead(bytes) { unsafe driver.readBlock.take(count) }
    }

    // MARK: Writing

    final func tryWrite(_ bytes: RawSpan) throws -> Int {
        let status = unsafe bytes.withUnsafeBytes { bytes in
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
        if isAdopted, let lost { return answerLater { $0.didWrite(lost) } }
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

    func shutdownWrite() {
        if isAdopted, let lost { return answerLater { $0.didShutDown(lost) } }
        let request = UVResultRequest(driver, UV_SHUTDOWN) { [self] in didShutDown(CInt($0)) }
        let status = request.submit {
            unsafe uv_shutdown(request.memory(as: uv_shutdown_t.self), uvStream) {
                unsafe UVResultRequest.completed($0!.pointee.data).complete(Int($1))
            }
        }
        if status != 0 { answerLater { $0.didShutDown(status) } }
    }

    final func didShutDown(_ status: CInt) {
        let hasGone = status == UV_ENOTCONN.rawValue || status == UV_ECONNRESET.rawValue
        unsafe stream?.transportDidShutdown(failure: status == 0 || hasGone ? nil : error(status, "shutdown"))
    }

    /// Calls `answer` later, for a request that libuv refused at once.
    final func answerLater(_ answer: @escaping (UVStream) -> Void) { loop.later { [self] in answer(self) } }

    // MARK: Closing

    /// Whether closing now may lose data: `true` for a socket, unless the peer has finished.
    var losesIfNotHeardOut: Bool { ![0, -ENOTSOCK, -EBADF].contains(peek()) }

    /// The number of bytes that the peer's TCP has not acknowledged. 0 for other streams, which put all bytes
    /// where the peer reads them.
    var unacknowledgedBytes: Int { 0 }

    func close(resetting: Bool) {
        if isAdopted, let descriptor { closeAdopted(descriptor) { close() } } else { close() }
    }

    final override var ownedDescriptor: CInt? { descriptor }

    /// The descriptor. `nil` if other code has closed it: another file may have its number by now.
    final var soundDescriptor: CInt? { isAdopted && lost != nil ? nil : descriptor }

    /// The code `EBADF` if other code has closed the descriptor, or `nil`.
    final var lost: CInt? {
        guard let descriptor, hasLost(descriptor) else { return nil }
        return UV_EBADF.rawValue
    }

    final override func hasLostDescriptor() {
        if isReading { endReading() }
        unsafe stream?.transportDidFail(error(UV_EBADF.rawValue, "read"))
        abort()
    }

    final override var isConnection: Bool { true }

    override func abort() { close(resetting: true) }

    var tcpTransport: (any TCPTransport)? { nil }

    override var line: String { line(isReading: isReading) }

    override func willClose() { driver.hangUps.remove(self) }

    override func didClose() { unsafe stream?.transportDidClose() }
}
