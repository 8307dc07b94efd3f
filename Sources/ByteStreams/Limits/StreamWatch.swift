internal import Futures

/// The time limits of one stream. Made when one of them first begins to run. Many streams never need it.
///
/// Events on the stream only note their time. Whether a limit has passed is checked when the wheel calls, which is
/// rarely. So a busy stream never moves a timer.
final class StreamWatch: CoarselyTimed {
    /// The owner of this watch, which leaves the wheel before it goes.
    private unowned let stream: ByteStream
    private let core: LoopCore
    private let limits: SharedLimits
    var place = CoarsePlace()
    /// The time at which the wheel is to call, if it is.
    private var calls = UInt64.max

    /// The time when bytes last came, left, or were taken by the reader.
    private var lastActivity: UInt64
    /// The time when the current reader began to wait, or bytes last came for it.
    private var lastRead: UInt64
    /// The time when the first bytes of what is being read were there, if they are.
    private var frameStart: UInt64?
    /// The time when the connection was made, until the first bytes have been taken.
    private var handshakeStart: UInt64?
    /// The time when bytes were last seen to have left, as long as others wait, and how many had left by then.
    private var lastProgress: (time: UInt64, left: Int)?

    init(_ stream: ByteStream, now: UInt64) {
        self.stream = stream
        core = stream.core
        limits = stream.shared
        (lastActivity, lastRead, handshakeStart) = (now, now, now)
    }

    // MARK: What happens on the stream

    func bytesCame(_ now: UInt64) { (lastActivity, lastRead) = (now, now) }

    func readBegan(_ now: UInt64) { lastRead = now }

    /// Notes that a reader waits for the rest of what has come.
    func frameIsIncomplete(_ now: UInt64) {
        if frameStart == nil { frameStart = now }
    }

    func readEnded() { frameStart = nil }

    func bytesWereTaken() { (frameStart, handshakeStart) = (nil, nil) }

    func writeBegan(_ now: UInt64) { lastProgress = (now, bytesThatLeft) }

    func bytesLeft(_ now: UInt64) { lastActivity = now }

    func writesEnded() { lastProgress = nil }

    // MARK: The wheel

    /// Makes the wheel call in time for what has begun now. It may call too early.
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
        noteProgress(now)
        if passed(now) != nil {
            // The loop may have been held up, while the peer did what it had to. Between these two it looks for that.
            core.later(on: .nextTurn) { [weak stream] in
                stream?.core.later(on: .nextTurn) { stream?.watch?.judge() }
            }
        } else if let next = nextLook(now) {
            call(at: next, now)
        }
    }

    func judge() {
        // It may have been closed meanwhile, and has left the wheel.
        guard stream.isOpen else { return }
        let now = core.clock
        noteProgress(now)
        if let limit = passed(now) {
            stream.timeRanOut(limit)
        } else if let next = nextLook(now) {
            call(at: next, now)
        }
    }

    private func noteProgress(_ now: UInt64) {
        // Bytes that this side has not taken are no sign of a peer that does nothing.
        if stream.hasUnread, !isWaitingForBytes { lastActivity = now }
        guard let last = lastProgress else { return }
        let left = bytesThatLeft
        if left != last.left {
            lastProgress = (now, left)
            lastActivity = now
        }
    }

    /// The number of bytes that have left, including those of the batch that is being written.
    private var bytesThatLeft: Int {
        guard let outbound = stream.outbound else { return stream.sent }
        return stream.sent + outbound.bytesInBatch - stream.transport.unwrittenBytes
    }

    private var isWaitingForBytes: Bool { stream.reader?.wantsBytes == true }

    // MARK: The limits

    private func passed(_ now: UInt64) -> StreamTimeLimit? {
        StreamTimeLimit.all.first { limit in deadline(of: limit) <= now }
    }

    /// Returns when the first limit passes, or when to check again what has left; `nil` if no limit runs.
    private func nextLook(_ now: UInt64) -> UInt64? {
        var next = UInt64.max
        for limit in StreamTimeLimit.all { next = min(next, deadline(of: limit)) }
        if lastProgress != nil, let limit = limits[.write] {
            next = min(next, now.addingSaturated(limit / 4))
        }
        return next < .max ? next : nil
    }

    /// Returns when `limit` passes: never, if it does not run.
    private func deadline(of limit: StreamTimeLimit) -> UInt64 {
        guard let nanoseconds = limits[limit], let start = start(of: limit) else { return .max }
        return start.addingSaturated(nanoseconds)
    }

    /// Returns since when `limit` runs, if it does.
    private func start(of limit: StreamTimeLimit) -> UInt64? {
        guard stream.phase == .open else { return nil }
        switch limit {
        case .handshake: return handshakeStart
        case .framing:
            guard isWaitingForBytes, !stream.isAtEnd else { return nil }
            return frameStart?.addingSaturated(earned)
        case .read: return isWaitingForBytes ? lastRead : nil
        case .write: return lastProgress?.time
        case .idle: return lastActivity
        }
    }

    /// The time that the bytes of an incomplete message have earned it.
    private var earned: UInt64 {
        UInt64(stream.unreadBytes) * 1_000_000_000 / UInt64(limits.limits.framingRate)
    }
}

extension ByteStream {
    /// Returns the watch, if `limit` is set, and makes it if need be.
    private func watch(for limit: StreamTimeLimit, _ now: UInt64) -> StreamWatch? {
        guard shared[limit] != nil, phase == .open else { return nil }
        if let watch { return watch }
        let watch = StreamWatch(self, now: now)
        self.watch = watch
        return watch
    }

    /// Starts the limits that run from the start of the connection.
    final func watchFromStart() {
        guard shared.runFromStart else { return }
        let now = core.clock
        let watch = StreamWatch(self, now: now)
        self.watch = watch
        watch.limitsBegan(now)
    }

    /// Notes that the reader waits for bytes now.
    final func watchRead() {
        guard shared[.read] != nil || hasUnread, let reader, reader.wantsBytes else { return }
        let now = core.clock
        if let watch = watch(for: .read, now) {
            watch.readBegan(now)
            watch.limitsBegan(now)
        }
        watchFrame(now)
    }

    /// Notes that bytes have come, and have been given to the reader.
    final func watchBytes() {
        if let watch, shared[.idle] != nil || shared[.read] != nil { watch.bytesCame(core.clock) }
        if hasUnread, let reader, reader.wantsBytes { watchFrame(core.clock) }
    }

    /// Notes that the reader waits for more bytes than there are, if there are some.
    private func watchFrame(_ now: UInt64) {
        guard hasUnread, let watch = watch(for: .framing, now) else { return }
        watch.frameIsIncomplete(now)
        watch.limitsBegan(now)
    }

    /// Notes that the transport has taken bytes at once.
    final func watchSent() {
        if let watch, shared[.idle] != nil { watch.bytesLeft(core.clock) }
    }

    /// Notes that the transport has been given bytes that it could not take at once.
    final func watchWrite() {
        let now = core.clock
        guard let watch = watch(for: .write, now) else { return }
        watch.writeBegan(now)
        watch.limitsBegan(now)
    }

    /// Notes that what the transport had been given has left.
    final func watchWritten() {
        guard let watch else { return }
        watch.bytesLeft(core.clock)
        if outbound == nil {
            watch.writesEnded()
            watch.limitsEnded()
        }
    }

    final func timeRanOut(_ limit: StreamTimeLimit) {
        guard let duration = limits[limit] else { return }
        let unsent = bufferedBytes
        let error = StreamError.timedOut(limit, after: duration, unread: unreadBytes, unsent: unsent)
        if limit == .idle, unsent == 0 { end(because: error) } else { connectionBroke(error) }
    }
}
