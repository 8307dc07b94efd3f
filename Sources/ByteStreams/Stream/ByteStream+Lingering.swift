internal import Futures

/// The streams of a loop that linger: they have sent everything, and wait until their peers have finished
/// sending.
final class LingeringStreams {
    private var streams: [UInt64: ByteStream] = [:]
    /// A number that is not above the number of any stream in the list.
    private var first: UInt64 = 0
    /// The number that the next stream gets.
    private var next: UInt64 = 0

    var count: Int { streams.count }

    /// Adds `stream`, and returns its number.
    func add(_ stream: ByteStream) -> UInt64 {
        defer { next += 1 }
        streams[next] = stream
        return next
    }

    func remove(_ number: UInt64) { streams[number] = nil }

    /// The stream that has lingered longest. `nil` if no stream lingers.
    var oldest: ByteStream? {
        while first < next, streams[first] == nil { first += 1 }
        return streams[first]
    }
}

extension ByteStream {
    /// The time between two checks whether the peer has acknowledged everything. The system does not report
    /// this.
    private static let acknowledgementPause: Duration = .milliseconds(10)

    /// Whether the stream lingers or has lingered.
    package final var hasLingered: Bool { details?.lingeringNumber != nil }

    /// The number of bytes that have left and that the peer has not acknowledged.
    private var unacknowledged: Int {
        max(0, transport.unacknowledgedBytes - (writeSide == .shutDown ? 1 : 0))
    }

    final func linger() {
        let most = limits.maxLingering
        guard most > 0 else { return endLingering() }
        phase = .lingering
        let lingering = core.streamState.lingering
        if lingering.count >= most { lingering.oldest?.crowdOut(most) }
        madeDetails.lingeringNumber = lingering.add(self)
        owner?.streamLingers(self)
        didDiscard()
    }

    final func leaveLingering() {
        if let number = details?.lingeringNumber { core.streamState.lingering.remove(number) }
    }

    private func crowdOut(_ limit: Int) {
        connectionBroke(failure ?? StreamError.crowdedOut(limit: limit))
    }

    /// Ends the lingering if the stream has thrown away more bytes than it may. Called when bytes have been
    /// thrown away.
    final func didDiscard() {
        guard phase == .lingering, let start = details?.discardingStart else { return }
        if received - start > limits.closeDiscardLimit { endLingering() }
    }

    /// Closes the connection, though the peer may not have finished sending. If the peer has not acknowledged
    /// everything, `closed` fails with `error` or, without `error`, with
    /// ``StreamError/unacknowledged(bytes:)``.
    final func endLingering(because error: (any Error)? = nil) {
        let lost = unacknowledged
        if lost > 0, failure == nil { madeDetails.failure = error ?? StreamError.unacknowledged(bytes: lost) }
        closeTransport(resetting: false)
    }

    /// Closes a stream that need not wait for its peer to finish. If the owner wants acknowledgements, closes
    /// the stream only when the peer has acknowledged everything.
    final func closeWhenAcknowledged() {
        guard isConnected else { return }
        guard let owner, owner.wantsAcknowledgement, unacknowledged > 0 else {
            return closeTransport(resetting: false)
        }
        phase = .lingering
        core.schedule(after: Self.acknowledgementPause) { [self] in closeWhenAcknowledged() }
    }

    /// Ends the connection now. Resets the connection, unless this side has closed it and the peer has
    /// acknowledged everything.
    package final func cutOff() {
        // In the flushing phase, the end may not have been told yet. Closing tells it.
        if phase == .lingering || phase == .flushing && outbound == nil, transport.unacknowledgedBytes == 0 {
            closeTransport(resetting: false)
        } else {
            abort()
        }
    }
}
