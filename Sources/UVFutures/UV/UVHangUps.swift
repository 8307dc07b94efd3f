internal import CLibUV
internal import Glibc

/// The hang-ups of connections of a loop that are not being read, which libuv does not watch for.
///
/// A second epoll set, itself watched by the loop, holds each of these descriptors for its errors alone, once. A
/// descriptor enters the set when the loop is about to wait and the connection is still unread, at most once in its
/// life. Being read again costs nothing. A closed descriptor has left the set.
@safe
final class UVHangUps {
    /// The streams that stopped being read, or never began, since the loop last waited. Not checked at run time,
    /// because no user code runs while it changes.
    @exclusivity(unchecked) private var new: [UVStream] = []
    var hasNew: Bool { unsafe !new.isEmpty }
    private var streams: [CInt: UVStream] = [:]
    private var set: CInt = -1
    private(set) var poll: UnsafeMutablePointer<uv_poll_t>?

    deinit {
        if set >= 0 { close(set) }
    }

    func add(_ stream: UVStream) { unsafe new.append(stream) }

    /// Forgets the new streams, because the loop will not wait any more, or looks at them now.
    func end() { unsafe new.removeAll(keepingCapacity: true) }

    func remove(_ stream: UVStream) {
        guard let descriptor = stream.watchedDescriptor else { return }
        stream.watchedDescriptor = nil
        streams[descriptor] = nil
        // Somebody may go on with a copy of the descriptor.
        forget_hang_up(set, descriptor)
    }

    /// Watches the streams that are still not read. Does without if no descriptors or memory are left.
    func watchNew(_ driver: UVLoop) {
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
        guard let poll = unsafe driver.makePoll(of: set) else { return false }
        unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            unsafe UVLoop.from(poll!.pointee.data).hangUps.tell()
        }
        unsafe self.poll = poll
        return true
    }

    /// Tells up to 64 streams that they have hung up. The next round tells the rest.
    private func tell() {
        for _ in 0..<64 {
            let descriptor = next_hang_up(set)
            guard descriptor >= 0 else { return }
            streams[descriptor]?.hasHungUp()
        }
    }
}
