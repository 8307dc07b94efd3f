public import FoundationEssentials
public import Futures

extension DatagramSocket {
    /// The number of queued bytes at which datagrams are sent at once, and not at the end of the current callbacks.
    private static let flushSize = 262_144

    /// Sends a datagram with these bytes, and completes when the system has accepted it. It may be lost later.
    ///
    /// `target` is the address to send to. On a connected socket, it is `nil` or ``peerAddress``. `source` is the
    /// address of this machine to send from, such as the ``DatagramHeader/localAddress`` of a request. With `nil`, the
    /// system chooses.
    ///
    /// Datagrams that are sent in the same callback, or while datagrams are being delivered, leave with one system call
    /// (`sendmmsg`). Where the kernel can, datagrams of the same size for the same peer go through it as one. What the
    /// system does not take at once is queued. Cancelling the returned future does not take the datagram back.
    ///
    /// Fails with ``SystemError`` if the system refuses the datagram, with ``DatagramError/tooLong(size:limit:)``,
    /// with ``DatagramError/queueFull(queued:limit:)``, and with ``DatagramError/socketClosed`` after ``close()``.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if there is no address to send to, or if this socket
    /// cannot use one of the addresses. If no code observes the future, a failure is reported as unhandled. A socket of
    /// the UNIX domain that is not connected fails with ``SystemError/Code/wouldBlock`` while the peer's queue is full.
    @discardableResult
    public final func send(
        _ bytes: RawSpan, to target: SocketAddress? = nil, from source: SocketAddress? = nil
    ) -> Future<Void> {
        core.checkThread()
        let promise = BarePromise(on: core)
        if let error = enqueue(bytes, target, source, promise, isLast: true) { promise.fail(error) }
        return promise.future
    }

    /// Sends several datagrams to one peer, and completes when the system has accepted all of them. If some of them
    /// fail, the others are sent all the same, and the future fails with the error of the first that failed. Everything
    /// else is the same as in ``send(_:to:from:)-(RawSpan,_,_)``.
    @discardableResult
    public final func send(
        contentsOf datagrams: [Data], to target: SocketAddress? = nil, from source: SocketAddress? = nil
    ) -> Future<Void> {
        sendAll(datagrams.lazy.map { ($0, target) }, from: source)
    }

    /// Sends a datagram to several peers, and completes when the system has accepted it for all of them. If it is
    /// refused for some of them, it is sent to the others all the same, and the future fails with the error of the
    /// first refusal. Everything else is the same as in ``send(_:to:from:)-(RawSpan,_,_)``.
    @discardableResult
    public final func send(
        _ bytes: Data, to targets: [SocketAddress], from source: SocketAddress? = nil
    ) -> Future<Void> {
        sendAll(targets.lazy.map { (bytes, $0) }, from: source)
    }

    private final func sendAll(
        _ datagrams: some Collection<(bytes: Data, target: SocketAddress?)>, from source: SocketAddress?
    ) -> Future<Void> {
        core.checkThread()
        guard !datagrams.isEmpty else { return core.succeeded() }
        let promise = BarePromise(on: core)
        var left = datagrams.count
        for datagram in datagrams {
            left -= 1
            let error = enqueue(
                datagram.bytes.bytes, datagram.target, source, promise, isLast: left == 0)
            guard let error else { continue }
            promise.fail(error)
        }
        return promise.future
    }

    /// Queues a datagram. If it cannot be sent, returns the error.
    private final func enqueue(
        _ bytes: RawSpan, _ target: SocketAddress?, _ source: SocketAddress?, _ promise: BarePromise,
        isLast: Bool
    ) -> (any Error)? {
        if transport.isClosing { return core.isShutDown ? FutureError.shutDown : DatagramError.socketClosed }
        let size = bytes.byteCount
        guard size <= Self.maximumSize else {
            return DatagramError.tooLong(size: size, limit: Self.maximumSize)
        }
        let load: Int?
        do {
            load = outbound.append(
                bytes, to: try checked(target), from: try source.map(checkedSource), promise, isLast: isLast,
                upTo: limits.writeCap)
        } catch {
            return error
        }
        guard let load else {
            return DatagramError.queueFull(queued: outbound.byteCount, limit: limits.writeCap)
        }
        if load >= Self.flushSize { flush() } else { planFlush() }
        return nil
    }

    /// Returns the address to give to the system. `nil` stands for the only peer.
    private final func checked(_ target: SocketAddress?) throws -> SocketAddress? {
        guard let target else {
            if peerAddress != nil { return nil }
            throw FutureError.invalidArgument(
                "a datagram of \(self) has no target; give an address as to:, or use a connected "
                    + "socket")
        }
        guard let peerAddress else { return try reachable(target) }
        if target == peerAddress { return nil }
        throw FutureError.invalidArgument(
            "\(self) is connected, and sends to its peer alone, not to \(target); leave out the argument to:")
    }

    private final func planFlush() {
        guard !isFlushPlanned, !arrivals.areDelivered else { return }
        isFlushPlanned = true
        core.later { [self] in
            isFlushPlanned = false
            flush()
        }
    }

    /// Gives the queue to the system, and completes the futures that wait for that.
    final func flush(isLast: Bool = false) {
        if outbound.isEmpty { return }
        transport.flush(outbound, isLast: isLast)
        outbound.completeSettled()
        if outbound.load < limits.writeLowWaterMark { writablePromise.take()?.succeed() }
        demandChanged()
    }

    /// The number of bytes of datagrams that have been sent and that the system has not accepted yet.
    public final var bufferedBytes: Int {
        core.checkThread()
        return outbound.byteCount
    }

    /// Completes when there is room in the queue for more datagrams. If fewer than
    /// ``DatagramLimits/writeHighWaterMark`` bytes are queued, completes at once. Otherwise completes when fewer than
    /// ``DatagramLimits/writeLowWaterMark`` bytes are queued.
    ///
    /// Fails with ``DatagramError/socketClosed`` after ``close()``. Cancelling this future does not end it: all code
    /// that waits for this future still gets the outcome.
    public final var writable: Future<Void> {
        core.checkThread()
        if transport.isClosing { return core.failed(DatagramError.socketClosed) }
        if let writablePromise { return writablePromise.future }
        guard outbound.load >= limits.writeHighWaterMark else { return core.succeeded() }
        let promise = core.makeSharedPromise()
        writablePromise = promise
        return promise.future
    }
}
