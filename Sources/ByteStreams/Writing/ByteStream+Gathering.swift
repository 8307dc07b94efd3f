internal import FoundationEssentials
internal import Futures

extension ByteStream {
    /// Whether all that is written in a turn of the loop leaves together, at the end of the turn. `false` unless you set it.
    ///
    /// A turn is one event, for example bytes that have come, and all callbacks that follow from it. Without gathering,
    /// each write is a system call. With it, the answers to all messages of one read need one call.
    ///
    /// The future of a gathered write is complete when `write` returns: the stream has the bytes. If they cannot be
    /// sent, ``closed`` fails. To wait until they have left, write nothing: `write("")` completes then. When 256 KiB or
    /// ``StreamLimits/writeCap`` bytes are gathered, they leave at once. When the system does not take all bytes,
    /// writes complete as without gathering, so a writer that waits for its writes is held back.
    ///
    /// ```swift
    /// connection.gathersWrites = true
    /// let served = connection.forEachMessage(decodedBy: LengthPrefixDecoder(.uint8)) { _, bytes in connection.write(bytes) }
    /// ```
    public final var gathersWrites: Bool {
        get { isGathering }
        set {
            core.checkThread()
            isGathering = newValue
        }
    }

    /// Adds `bytes` to those that leave at the end of the turn. Returns `nil` if they cannot be gathered.
    final func gather(_ bytes: RawSpan) -> Future<Void>? {
        gather(isEmpty: bytes.isEmpty) { $0.append(bytes) }
    }

    final func gather(_ buffers: [Data]) -> Future<Void>? {
        gather(isEmpty: buffers.totalCount == 0) { gathering in
            for buffer in buffers { gathering.append(buffer) }
        }
    }

    @inline(__always)
    private func gather(isEmpty: Bool, _ append: (Gathering) -> Void) -> Future<Void>? {
        guard phase == .open, writeSide == .open else { return nil }
        if isEmpty { return outbound?.gathering.map(leaving) }
        if outbound == nil { beginGathering() }
        guard let gathering = outbound?.gathering else { return nil }
        append(gathering)
        if gathering.byteCount >= min(Gathering.fullSize, limits.writeCap) {
            // The writer waits for what the system does not take.
            let left = leaving(gathering)
            sendGathered()
            return left
        }
        return core.succeeded()
    }

    /// Begins to gather. The loop keeps the stream until the end of the turn.
    private func beginGathering() {
        if details == nil { details = StreamDetails() }
        details!.outbound = shared.spareQueue.queue.take() ?? OutboundQueue(Gathering())
        guard !details!.waitsForTurnEnd else { return }
        details!.waitsForTurnEnd = true
        core.atTurnEnd(self)
    }

    private func leaving(_ gathering: Gathering) -> Future<Void> {
        let promise = gathering.promise ?? core.makeSharedPromise()
        gathering.promise = promise
        promise.isCalled("a write of \(name)")
        return promise.future
    }

    /// Sends what has been gathered, if there is anything.
    final func sendGathered() {
        guard isConnected, let gathering = outbound?.gathering else { return }
        do {
            let rest = try gathering.send(to: transport)
            noteSent(gathering.byteCount - (rest?.totalCount ?? 0))
            let (promise, buffers) = gathering.removeAll()
            if let rest {
                goOnSending(rest, outbound!, promise)
            } else {
                shared.spareQueue.queue = details?.outbound.take()
                outboundDrained { promise?.succeed() }
            }
            // Not released before: see `removeAll`.
            withExtendedLifetime(buffers) {}
        } catch {
            transportBroke(error)
        }
    }

    /// Puts what has been gathered in front of other writes. Runs no user code.
    final func queueGathered() {
        guard let queue = outbound, let gathering = queue.gathering else { return }
        let all = gathering.all
        goOnSending(all, queue, gathering.removeAll().0)
    }

    /// Sends what the system has not taken at once.
    @inline(never)
    private func goOnSending(_ rest: [Data], _ queue: OutboundQueue, _ promise: Promise<Void>?) {
        shared.spareQueue.queue = OutboundQueue(queue.gathering.take())
        _ = queue.append(rest, nil, promise ?? core.makeSharedPromise())
        updateHold()
        startBatch(queue)
        watchWrite()
    }
}

extension ByteStream: TurnEnding {
    package final func turnEnds() {
        details?.waitsForTurnEnd = false
        sendGathered()
    }
}
