internal import Futures

/// The time limits of one stream. Made when one of them first begins to run; many streams never need it.
///
/// What happens on the stream only writes down when; whether a limit has passed is looked at when the wheel calls,
/// which is rarely. So a busy stream never moves a timer.
final class StreamWatch: CoarselyTimed {
    /// Owns this, and leaves the wheel before it goes.
    private unowned let stream: ByteStream
    private let core: LoopCore
    private let limits: SharedLimits
    var place = CoarsePlace()
    /// When the wheel is to call, if it is.
    private var calls = UInt64.max

    /// When bytes last came, left, or were taken by whoever reads.
    private var lastActivity: UInt64
    /// When whoever reads now began to wait, or bytes last came for it.
    private var lastRead: UInt64
    /// When the first bytes of what is being read were there, if they are.
    private var frameStart: UInt64?
    /// When the connection was made, until the first bytes have been taken.
    private var handshakeStart: UInt64?
    /// When bytes last were seen to have left, as long as others wait, and how many had left by then.
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

    /// Somebody waits for the rest of what has come.
    func frameIsIncomplete(_ now: UInt64) {
        if frameStart == nil { frameStart = now }
    }

    func readEnded() { frameStart = nil }

    func bytesWereTaken() { (frameStart, handshakeStart) = (nil, nil) }

    func writeBegan(_ now: UInt64) { lastProgress = (now, bytesThatLeft) }

    func bytesLeft(_ now: UInt64) { lastActivity = now }

    func writesEnded() { lastProgress = nil }

    // MARK: The wheel

    /// Sees to it that the wheel calls in time for what has begun now. It may call too early.
    func limitsBegan(_ now: UInt64) {
        guard let next = nextLook(now) else { return }
        if next < calls || !place.isTaken { call(at: next, now) }
    }

    /// The same, and leaves the wheel if no limit runs.
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

    /// Those of the batch that is being written too.
    private var bytesThatLeft: Int {
        guard let outbound = stream.outbound else { return stream.sent }
        return stream.sent + outbound.bytesInBatch - stream.transport.unwrittenBytes
    }

    private var isWaitingForBytes: Bool { stream.reader?.wantsBytes == true }

    // MARK: The limits

    private func passed(_ now: UInt64) -> StreamTimeLimit? {
        StreamTimeLimit.all.first { limit in deadline(of: limit) <= now }
    }

    /// When the first limit passes, or what has left is to be looked at again; `nil` if no limit runs.
    private func nextLook(_ now: UInt64) -> UInt64? {
        var next = UInt64.max
        for limit in StreamTimeLimit.all { next = min(next, deadline(of: limit)) }
        if lastProgress != nil, let limit = limits[.write] {
            next = min(next, now.addingSaturated(limit / 4))
        }
        return next < .max ? next : nil
    }

    /// For ever, if the limit does not run.
    private func deadline(of limit: StreamTimeLimit) -> UInt64 {
        guard let nanoseconds = limits[limit], let start = start(of: limit) else { return .max }
        return start.addingSaturated(nanoseconds)
    }

    /// Since when a limit runs, if it does.
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

    /// What the bytes that have come of an incomplete message have added to its time.
    private var earned: UInt64 {
        UInt64(stream.unreadBytes) * 1_000_000_000 / UInt64(limits.limits.framingRate)
    }
}

extension ByteStream {
    /// The watch, if `limit` is set, made if need be.
    private func watch(for limit: StreamTimeLimit, _ now: UInt64) -> StreamWatch? {
        guard shared[limit] != nil, phase == .open else { return nil }
        if let watch { return watch }
        let watch = StreamWatch(self, now: now)
        self.watch = watch
        return watch
    }

    /// What runs from the start of the connection begins with it.
    final func watchFromStart() {
        guard shared[.idle] != nil || shared[.handshake] != nil else { return }
        let now = core.clock
        let watch = StreamWatch(self, now: now)
        self.watch = watch
        watch.limitsBegan(now)
    }

    /// Whoever reads waits for bytes now.
    final func watchRead() {
        guard shared[.read] != nil || hasUnread, let reader, reader.wantsBytes else { return }
        let now = core.clock
        if let watch = watch(for: .read, now) {
            watch.readBegan(now)
            watch.limitsBegan(now)
        }
        watchFrame(now)
    }

    /// Bytes have come, and have been given to whoever reads.
    final func watchBytes() {
        if let watch, shared[.idle] != nil || shared[.read] != nil { watch.bytesCame(core.clock) }
        if hasUnread, let reader, reader.wantsBytes { watchFrame(core.clock) }
    }

    /// Whoever reads waits for more than there is, if there is something.
    private func watchFrame(_ now: UInt64) {
        guard hasUnread, let watch = watch(for: .framing, now) else { return }
        watch.frameIsIncomplete(now)
        watch.limitsBegan(now)
    }

    /// The transport has taken bytes at once.
    final func watchSent() {
        if let watch, shared[.idle] != nil { watch.bytesLeft(core.clock) }
    }

    /// The transport has been given bytes that it could not take at once.
    final func watchWrite() {
        let now = core.clock
        guard let watch = watch(for: .write, now) else { return }
        watch.writeBegan(now)
        watch.limitsBegan(now)
    }

    /// What the transport had been given has left.
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
