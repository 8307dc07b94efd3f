internal import ByteStreams
internal import FoundationEssentials
internal import Futures
internal import Glibc
internal import SystemIO

/// A stream over a socket that other programs share, and that stays in the mode in which they have it: a standard stream.
///
/// A socket has one mode for all who share it, and cannot be opened again. In the non-blocking mode of libuv's streams,
/// the writes of a program that inherits it would fail where they should wait. So libuv only reports when the socket is
/// ready, and each system call says for itself that it must not wait.
@safe
final class UVSharedSocket: StreamCarrier {
    private let poll: UVPoll
    private unowned(unsafe) var stream: ByteStream?
    private var isReading = false
    private var pending = PendingWrite()

    /// Takes over `descriptor`. If this throws, the caller keeps the descriptor.
    init(_ driver: UVLoop, adopting descriptor: CInt) throws {
        poll = try UVPoll.watch(descriptor, on: driver)
        poll.onEvents = { [self] _ in isReady() }
        poll.onLoss = { [self] in unsafe stream?.transportDidFail($0) }
        poll.onClose = { [self] in
            if poll.loss == nil { Glibc.close(descriptor) }
            unsafe stream?.transportDidClose()
        }
    }

    func serve(_ stream: ByteStream?) { unsafe self.stream = stream }

    private func isReady() {
        poll.loop.turn {
            if isReading { read() }
            if !poll.isClosing, pending.goOn(tryWrite) {
                unsafe stream?.transportDidWrite(failure: pending.failure)
            }
            wait()
        }
    }

    private func wait() {
        poll.setInterest(
            (isReading ? DescriptorEvents.readable : []).union(pending.isWaiting ? .writable : []))
    }

    // MARK: Reading

    func startReading() {
        isReading = true
        wait()
    }

    func stopReading() {
        isReading = false
        wait()
    }

    private func read() {
        let driver = poll.driver
        let room = unsafe driver.readBlock.prepare()
        let count = unsafe recv(poll.descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            let bytes = unsafe RawSpan(_unsafeBytes: driver.readBlock.bytes(count))
            unsafe stream?.transportDidRead(bytes) { unsafe driver.readBlock.take(count) }
            unsafe driver.readBlock.noteRead(count)
        } else if count == 0 {
            isReading = false
            unsafe stream?.transportDidReachEnd()
        } else if !mustWait {
            isReading = false
            unsafe stream?.transportDidFail(SystemError(-errno, "read"))
        }
    }

    // MARK: Writing

    func tryWrite(_ bytes: RawSpan) throws -> Int { try unsafe bytes.withUnsafeBytes { try unsafe send($0) } }

    func tryWrite(_ buffers: [Data]) throws -> Int {
        var total = 0
        for buffer in buffers {
            do {
                let count = try unsafe buffer.withUnsafeBytes { try unsafe send($0) }
                total += count
                if count < buffer.count { break }
            } catch {
                // The next write fails with this error, or by then with a broken pipe.
                if total == 0 { throw error }
                break
            }
        }
        return total
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        guard unsafe !bytes.isEmpty else { return 0 }
        let flags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
        let count = unsafe Glibc.send(poll.descriptor, bytes.baseAddress, bytes.count, flags)
        guard count < 0 else { return count }
        guard mustWait else { throw SystemError(-errno, "write") }
        return 0
    }

    private var mustWait: Bool { errno == EAGAIN || errno == EINTR }

    func write(_ buffers: [Data]) {
        pending.begin(buffers)
        wait()
    }

    var unwrittenBytes: Int { pending.byteCount }

    func shutdownWrite() {
        let hasGone = shutdown(poll.descriptor, CInt(SHUT_WR)) == 0 || errno == ENOTCONN
        let failure = hasGone ? nil : SystemError(-errno, "shutdown")
        poll.loop.later { [self] in unsafe stream?.transportDidShutdown(failure: failure) }
    }

    // MARK: Closing

    func close(resetting: Bool) { poll.closeWatch() }
}
