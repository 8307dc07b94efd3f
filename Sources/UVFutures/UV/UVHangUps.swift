internal import CLibUV
internal import Glibc

/// The connections of a loop on which nobody reads, and their hang-ups, which libuv does not watch for.
///
/// A second epoll set, itself watched by the loop, holds each of these descriptors for its errors alone, once. It is
/// entered when the loop is about to wait and a connection is still unread, at most once in its life; to be read
/// again costs nothing. A descriptor that is closed has left the set.
@safe
final class UVHangUps {
    /// Has stopped being read, or has never begun, since the loop waited. Not checked at run time: nothing of users runs while
    /// it changes.
    @exclusivity(unchecked) private var new: [UVStream] = []
    var hasNew: Bool { unsafe !new.isEmpty }
    private var streams: [CInt: UVStream] = [:]
    private var set: CInt = -1
    private(set) var poll: UnsafeMutablePointer<uv_poll_t>?

    deinit {
        if set >= 0 { close(set) }
        unsafe poll?.deallocate()
    }

    func add(_ stream: UVStream) {
        unsafe new.append(stream)
    }

    /// Forgets them. The loop will not wait any more, or looks at them now.
    func end() {
        unsafe new.removeAll(keepingCapacity: true)
    }

    func remove(_ stream: UVStream) {
        guard let descriptor = stream.watchedDescriptor else { return }
        stream.watchedDescriptor = nil
        streams[descriptor] = nil
        // Somebody may go on with a copy of the descriptor.
        forget_hang_up(set, descriptor)
    }

    /// Watches what is still not read. Without descriptors or memory left it does without.
    fileprivate func watchNew(_ driver: UVLoop) {
        defer { end() }
        for stream in unsafe new where !stream.isReading && stream.watchedDescriptor == nil {
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
        let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        unsafe poll.pointee.data = Unmanaged.passUnretained(driver).toOpaque()
        guard unsafe uv_poll_init(driver.loop, poll, set) == 0 else {
            unsafe poll.deallocate()
            return false
        }
        unsafe uv_unref(poll.asHandle)
        unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            unsafe UVLoop.from(poll!.pointee.data).hangUps.tell()
        }
        unsafe self.poll = poll
        return true
    }

    /// Tells those that have hung up. What is left is told in the next round.
    private func tell() {
        for _ in 0..<64 {
            let descriptor = next_hang_up(set)
            guard descriptor >= 0 else { return }
            streams[descriptor]?.hasHungUp()
        }
    }
}

extension UVLoop {
    func watchHangUps() { hangUps.watchNew(self) }
}
