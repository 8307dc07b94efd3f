internal import Futures

/// The time limits of one stream. Made when a limit begins to run for the first time. Many streams never need
/// this object.
///
/// Events on the stream only note their time. The wheel (`CoarseSlot`) calls rarely, and only then does the
/// watch check whether a limit has passed. So a busy stream never moves a timer.
final class StreamWatch: CoarselyTimed {
    /// The owner of this watch. It takes the watch out of the wheel before it is released.
    private unowned let stream: ByteStream
    private let core: LoopCore
    private let limits: SharedLimits
    var place = CoarsePlace()
    /// The time at which the wheel is to call. Valid only while the watch is in the wheel.
    private var calls = UInt64.max

    /// The time when bytes last came or left. While this side leaves bytes unread, the time of the last
    /// check.
    private var lastActivity: UInt64
    /// The time when the current reader began to wait, or when bytes last came.
    private var lastRead: UInt64
    /// The time when the first bytes of the current message were there. `.max` if there are none.
    private var frameStart = UInt64.max
    /// The time when the connection was made, or began again. `.max` once the first bytes have been read.
    private var handshakeStart: UInt64
    /// The time when the connection was made.
    private let start: UInt64
    /// The time at which the watch last found that more bytes had left, and the number of bytes that had left
    /// by then. `nil` while no bytes wait to be sent.
    private var lastProgress: (time: UInt64, left: Int)?

    init(_ stream: ByteStream, now: UInt64) {
        self.stream = stream
        core = stream.core
        limits = stream.shared
        (lastActivity, lastRead, handshakeStart, start) = (now, now, now, now)
    }

    // MARK: Events on the stream

    func bytesCame(_ now: UInt64) { (lastActivity, lastRead) = (now, now) }

    func handshakeBegan(_ now: UInt64) { handshakeStart = now }

    func readBegan(_ now: UInt64) { lastRead = now }

    /// Notes that a reader waits for the rest of a message of which some bytes have come.
    func frameIsIncomplete(_ now: UInt64) { frameStart = min(frameStart, now) }

    func readEnded() { frameStart = .max }

    func bytesWereTaken() { (frameStart, handshakeStart) = (.max, .max) }

    func writeBegan(_ now: UInt64) { lastProgress = (now, bytesThatLeft) }

    func bytesLeft(_ now: UInt64) { lastActivity = now }

    func writesEnded() { lastProgress = nil }

    // MARK: The wheel

    /// Makes the wheel call in time for a limit that has begun to run. The wheel may call too early.
    func limitsBegan(_ now: UInt64) {
        guard let next = nextLook(now) else { return }
        if next < calls || !place.isTaken { call(at: next, now) }
    }

    /// Makes the wheel call in time, or leaves the wheel if no limit runs.
    func limitsEnded() {
        guard place.isTaken else { return }
        let now = core.clock
        if let next = nextLook(now) { call(at: next, now) } else { leave() }
    }

    func leave() { core.removeDeadline(of: self) }

    private func call(at time: UInt64, _ now: UInt64) {
        calls = time
        core.setDeadline(time, of: self, now: now)
    }

    func timeHasCome(_ now: UInt64) {
        guard passedLimit(now) != nil else { return }
        // If a callback took long, bytes of the peer may wait in the system. The loop reads them between
        // these two turns.
        core.later(on: .nextTurn) { [weak stream] in
            stream?.core.later(on: .nextTurn) { stream?.watch?.judge() }
        }
    }

    func judge() {
        // The stream may have been closed in the meantime. Then the watch has left the wheel.
        guard stream.isOpen else { return }
        if let limit = passedLimit(core.clock) { stream.timeRanOut(limit) }
    }

    /// Returns the first limit that has passed. If no limit has passed, makes the wheel call in time for the
    /// next one, and returns `nil`.
    private func passedLimit(_ now: UInt64) -> StreamTimeLimit? {
        noteProgress(now)
        let limit = StreamTimeLimit.all.first { limit in deadline(of: limit) <= now }
        if limit == nil, let next = nextLook(now) { call(at: next, now) }
        return limit
    }

    private func noteProgress(_ now: UInt64) {
        // While this side leaves bytes unread, the peer is not to blame that nothing happens.
        if stream.hasUnread, !isWaitingForBytes { lastActivity = now }
        if let last = lastProgress, last.left != bytesThatLeft {
            lastProgress = (now, bytesThatLeft)
            lastActivity = now
        }
    }

    /// The number of bytes that have left, including the bytes of the current batch that have left.
    private var bytesThatLeft: Int {
        guard let outbound = stream.outbound else { return stream.sent }
        return stream.sent + outbound.bytesInBatch - stream.transport.unwrittenBytes
    }

    private var isWaitingForBytes: Bool { stream.wantsBytes }

    // MARK: The limits

    /// Returns the time of the next check: when the first limit passes or, while bytes wait to be sent,
    /// earlier. Returns `nil` if no limit runs.
    private func nextLook(_ now: UInt64) -> UInt64? {
        var next = UInt64.max
        for limit in StreamTimeLimit.all { next = min(next, deadline(of: limit)) }
        if lastProgress != nil, let limit = limits[.write] {
            next = min(next, now.addingSaturated(limit / 4))
        }
        return next < .max ? next : nil
    }

    /// Returns the time when `limit` passes, or `.max` if `limit` does not run.
    private func deadline(of limit: StreamTimeLimit) -> UInt64 {
        guard let nanoseconds = limits[limit] else { return .max }
        return start(of: limit).addingSaturated(nanoseconds)
    }

    /// Returns the time when `limit` began to run, or `.max` if `limit` does not run.
    private func start(of limit: StreamTimeLimit) -> UInt64 {
        switch limit {
        case .handshake: return handshakeStart
        case .framing:
            guard isWaitingForBytes, !stream.isAtEnd else { return .max }
            return frameStart.addingSaturated(earned)
        case .read: return isWaitingForBytes ? lastRead : .max
        case .write: return lastProgress?.time ?? .max
        case .idle: return lastActivity
        case .lifetime: return start
        }
    }

    /// The nanoseconds by which the bytes of an incomplete message extend its time:
    /// ``StreamLimits/framingRate``.
    private var earned: UInt64 {
        UInt64(stream.unreadBytes) * 1_000_000_000 / UInt64(limits.limits.framingRate)
    }
}

extension ByteStream {
    /// Begins to watch `limit`, if it is set: calls `note`, which notes what has happened. Makes the watch if
    /// there is none.
    private func begin(_ limit: StreamTimeLimit, _ now: UInt64, _ note: (StreamWatch) -> Void) {
        guard shared[limit] != nil, phase == .open else { return }
        let watch = watch ?? StreamWatch(self, now: now)
        self.watch = watch
        note(watch)
        watch.limitsBegan(now)
    }

    /// Starts the limits that run from the start of the connection.
    final func watchFromStart() {
        guard shared.runFromStart else { return }
        let now = core.clock
        watch = StreamWatch(self, now: now)
        watch?.limitsBegan(now)
    }

    /// Starts the limit of the first message again: what has been read so far was not a message of the peer.
    package final func watchFirstMessage() {
        let now = core.clock
        begin(.handshake, now) { $0.handshakeBegan(now) }
    }

    /// Notes that the reader waits for bytes now.
    final func watchRead() {
        guard shared[.read] != nil || hasUnread, wantsBytes else { return }
        let now = core.clock
        begin(.read, now) { $0.readBegan(now) }
        watchFrame(now)
    }

    // The functions below do not bind the watch to a constant: that would count a reference for each event.

    /// Notes that bytes have come and have been offered to the reader.
    final func watchBytes() {
        if watch != nil, shared[.idle] != nil || shared[.read] != nil {
            let now = core.clock
            watch?.bytesCame(now)
        }
        if hasUnread, wantsBytes { watchFrame(core.clock) }
    }

    /// Notes that the reader waits for the rest of a message, if some bytes of it have come.
    private func watchFrame(_ now: UInt64) {
        if hasUnread { begin(.framing, now) { $0.frameIsIncomplete(now) } }
    }

    /// Notes that the transport has taken bytes at once.
    final func watchSent() {
        guard watch != nil, shared[.idle] != nil else { return }
        let now = core.clock
        watch?.bytesLeft(now)
    }

    /// Notes that the transport has been given bytes that it could not take at once.
    final func watchWrite() {
        let now = core.clock
        begin(.write, now) { $0.writeBegan(now) }
    }

    /// Notes that the bytes that the transport had been given have left.
    final func watchWritten() {
        watch?.bytesLeft(core.clock)
        if outbound == nil { watchPause() }
    }

    /// Notes that nothing waits for the peer, although the queue is not empty: a source has to bring bytes first.
    final func watchPause() {
        watch?.writesEnded()
        watch?.limitsEnded()
    }

    final func timeRanOut(_ limit: StreamTimeLimit) {
        guard let duration = limits[limit] else { return }
        let unsent = bufferedBytes
        let error = StreamError.timedOut(limit, after: duration, unread: unreadBytes, unsent: unsent)
        if limit.closesNormally, unsent == 0 { end(because: error) } else { connectionBroke(error) }
    }
}
