internal import Futures

/// The streams of a loop that have sent all, and wait for their peers to finish.
final class LingeringStreams {
    private var streams: [UInt64: ByteStream] = [:]
    /// The lowest number that may be taken.
    private var first: UInt64 = 0
    private var next: UInt64 = 0

    var count: Int { streams.count }

    /// Adds `stream`, and returns its number.
    func add(_ stream: ByteStream) -> UInt64 {
        defer { next += 1 }
        streams[next] = stream
        return next
    }

    func remove(_ number: UInt64) { streams[number] = nil }

    /// The stream that has lingered longest.
    var oldest: ByteStream? {
        while first < next {
            if let stream = streams[first] { return stream }
            first += 1
        }
        return nil
    }
}

extension LoopCore {
    fileprivate var lingering: LingeringStreams {
        if let streams { return streams as! LingeringStreams }
        let lingering = LingeringStreams()
        streams = lingering
        return lingering
    }
}

extension ByteStream {
    /// The time between two looks at whether the peer has acknowledged all: nothing reports that.
    private static let acknowledgementPause: Duration = .milliseconds(10)

    /// Whether the stream has sent all, and waits or waited for its peer's end.
    package final var hasLingered: Bool { lingeringNumber != nil }

    /// The number of bytes that have left and that the peer may not have got.
    private var unacknowledged: Int {
        max(0, transport.unacknowledgedBytes - (writeSide.isShutDown ? 1 : 0))
    }

    final func linger() {
        let most = limits.maxLingering
        guard most > 0 else { return endLingering() }
        phase = .lingering
        let lingering = core.lingering
        if lingering.count >= most { lingering.oldest?.crowdOut(most) }
        lingeringNumber = lingering.add(self)
        owner?.streamLingers(self)
        didDiscard()
    }

    final func leaveLingering() {
        if let lingeringNumber { core.lingering.remove(lingeringNumber) }
    }

    private func crowdOut(_ limit: Int) {
        connectionBroke(failure ?? StreamError.crowdedOut(limit: limit))
    }

    /// Notes that bytes have come that nobody wants.
    final func didDiscard() {
        guard phase == .lingering, let discardingStart else { return }
        if received - discardingStart > limits.closeDiscardLimit { endLingering() }
    }

    /// Stops waiting for the peer, because of `error` if there is one.
    final func endLingering(because error: (any Error)? = nil) {
        let lost = unacknowledged
        if lost > 0, failure == nil { failure = error ?? StreamError.unacknowledged(bytes: lost) }
        closeTransport(resetting: false)
    }

    /// Closes a stream that has heard its peer out: at once, unless the owner has to know that all has arrived.
    final func closeWhenAcknowledged() {
        guard isConnected else { return }
        guard let owner, owner.wantsAcknowledgement, unacknowledged > 0 else {
            return closeTransport(resetting: false)
        }
        phase = .lingering
        core.schedule(after: Self.acknowledgementPause) { [self] in closeWhenAcknowledged() }.future
            .ignoreFailure()
    }

    /// Ends the connection now: by a reset, unless the peer has got all and knows that nothing follows.
    package final func cutOff() {
        if phase == .lingering, transport.unacknowledgedBytes == 0 {
            closeTransport(resetting: false)
        } else {
            abort()
        }
    }
}
