internal import CFuturesSystem
internal import CLibUV
internal import Glibc
internal import SystemIO

/// The watch for hang-ups of connections that nobody reads. libuv itself does not report these hang-ups.
///
/// The loop watches a second epoll set. This set holds the descriptors of the connections, and reports each change of
/// their errors and hang-ups once. A UNIX socket hangs up when both sides have finished sending, and may be reset
/// later. A pipe has no errors to report: its writer learns from a write that its reader has gone. A descriptor enters
/// the set when the loop is about to wait and nobody reads the connection. It stays in the set when the connection is
/// read again, so a new read costs nothing. It leaves the set when the connection hangs up during a read, or is closed.
@safe
final class UVHangUps {
    /// The streams that have stopped reading, or have been made, since the loop last waited. Swift does not
    /// check the accesses at run time, because no user code runs while the array changes.
    @exclusivity(unchecked) private var new: [UVStream] = []
    var hasNew: Bool { unsafe !new.isEmpty }
    private var streams: [CInt: UVStream] = [:]
    private var set: CInt = -1
    private(set) var poll: UnsafeMutablePointer<uv_poll_t>?

    deinit { closeSet() }

    /// Closes the set's descriptor. The handle that watches it has been closed.
    func closeSet() {
        if set >= 0 { close(set) }
        set = -1
    }

    func add(_ stream: UVStream) { unsafe new.append(stream) }

    /// Forgets the new streams. The loop has looked at them, or will never wait again.
    func end() { unsafe new.removeAll(keepingCapacity: true) }

    func remove(_ stream: UVStream) {
        let descriptor = stream.watchedDescriptor
        guard descriptor >= 0 else { return }
        stream.watchedDescriptor = -1
        streams[descriptor] = nil
        // Other code may have a copy of the descriptor, which would keep the watch in the set.
        forget_hang_up(set, descriptor)
    }

    /// Watches the new streams that nobody reads yet. Does not watch them if descriptors or memory are
    /// lacking.
    func watchNew(_ driver: UVLoop) {
        defer { end() }
        for stream in unsafe new where !stream.isReading && stream.watchedDescriptor < 0 {
            guard let descriptor = stream.descriptor else { continue }
            if unsafe poll == nil, !start(driver) { return }
            guard watch_for_hang_up(set, descriptor) else { continue }
            stream.watchedDescriptor = descriptor
            streams[descriptor] = stream
        }
    }

    private func start(_ driver: UVLoop) -> Bool {
        if set < 0 { set = StandardDescriptors.leave(make_hang_up_set()) }
        guard set >= 0 else { return false }
        guard let poll = unsafe try? driver.makePoll(of: set) else { return false }
        unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            unsafe UVLoop.from(poll!.pointee.data).hangUps.tell()
        }
        unsafe self.poll = poll
        return true
    }

    /// Tells up to 64 streams that something has changed. The next round tells the rest.
    private func tell() {
        for _ in 0..<64 {
            let descriptor = next_hang_up(set)
            guard descriptor >= 0 else { return }
            streams[descriptor]?.hasHungUp()
        }
    }
}
