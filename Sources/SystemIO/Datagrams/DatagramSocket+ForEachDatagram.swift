internal import FoundationEssentials
public import Futures

extension DatagramSocket {
    /// Calls `body` with each datagram, without copying its bytes, and completes when this side closes the socket. This
    /// is the fastest way to receive.
    ///
    /// You can use `bytes` only during the call of `body`. The compiler checks this. To keep the bytes, make a copy:
    /// `Data(copying: bytes)`. If several datagrams have come together, those that `body` sends leave after the last
    /// call of `body` for them.
    ///
    /// Fails with the error that `body` throws. Fails with ``DatagramError/receivePending`` if something else waits for
    /// datagrams of this socket. Fails with ``SystemError`` if the system cannot receive, for example for lack of
    /// memory: the socket stays open, and the next call tries again. If you cancel the returned future, later datagrams
    /// wait for the next receiver.
    ///
    /// ```swift
    /// let socket = try UDPSocket.bind(host: "127.0.0.1", port: 7007, on: loop)
    /// let echo = socket.forEachDatagram { bytes, header in socket.send(bytes, to: header.source) }
    /// ```
    public final func forEachDatagram(
        _ body: @escaping (_ bytes: RawSpan, _ header: DatagramHeader) throws -> Void
    ) -> Future<Void> {
        forEach(maxConcurrent: 1) { bytes, header in
            try body(bytes, header)
            return nil
        }
    }

    /// Calls `body` with each datagram, without copying its bytes, and completes when this side closes the socket.
    ///
    /// `body` returns a future. While `maxConcurrent` of these futures are pending, the socket takes no further
    /// datagrams: they wait in the system, and are lost if its buffer is full. Fails with the error of such a future.
    /// If you cancel the returned future, the pending futures are asked to cancel, too. Everything else is the same as
    /// in the `forEachDatagram` whose `body` returns nothing.
    ///
    /// Traps if `maxConcurrent` is not positive.
    public final func forEachDatagram<Ignored>(
        maxConcurrent: Int = 64,
        _ body: @escaping (_ bytes: RawSpan, _ header: DatagramHeader) throws -> Future<Ignored>
    ) -> Future<Void> {
        if maxConcurrent <= 0 {
            trap("forEachDatagram(maxConcurrent:) was given \(maxConcurrent); give 1 or more.")
        }
        return forEach(maxConcurrent: maxConcurrent) { [core] bytes, header in
            let future = try body(bytes, header).untyped
            return future.hasSucceeded(on: core) ? nil : future
        }
    }

    private final func forEach(maxConcurrent: Int, _ body: @escaping DatagramReader.Body) -> Future<Void> {
        core.checkThread()
        if core.isShutDown { return core.failed(FutureError.shutDown) }
        if transport.isClosing { return core.failed(DatagramError.socketClosed) }
        guard reader == nil, askers.isEmpty, waiting.isEmpty else {
            return core.failed(DatagramError.receivePending)
        }
        let reader = DatagramReader(self, maxConcurrent: maxConcurrent, body)
        self.reader = reader
        if !inbound.isEmpty { core.later { reader.takeBuffered() } }
        demandChanged()
        return reader.future
    }
}

/// The `forEachDatagram` of a socket.
final class DatagramReader: PromiseOwner {
    typealias Body = (RawSpan, DatagramHeader) throws -> Future<Void>?

    private let socket: DatagramSocket
    private let maxConcurrent: Int
    private let body: Body
    private let values: CarriedValues
    private let promise: OwnedPromise<Void>
    /// The waits for the pending futures of the body, in order. Cancelling a wait asks its future to cancel.
    private var pending: [(id: Int, wait: Future<Void>)] = []
    private var number = 0
    /// Whether the reader continues only in the next turn, so that others get their turn.
    private var isGivingWay = false

    init(_ socket: DatagramSocket, maxConcurrent: Int, _ body: @escaping Body) {
        self.socket = socket
        self.maxConcurrent = maxConcurrent
        self.body = body
        values = socket.core.carriedValues
        promise = OwnedPromise(on: socket.core)
        promise.belong(to: self)
    }

    var future: Future<Void> { promise.future }

    /// Whether the reader takes no datagrams now. Those that come meanwhile wait in the socket.
    var isBlocked: Bool { pending.count >= maxConcurrent || isGivingWay || !socket.inbound.isEmpty }

    func take(_ bytes: RawSpan, _ header: DatagramHeader) {
        do {
            if let future = try values.during({ try body(bytes, header) }) { wait(for: future) }
        } catch {
            fail(error)
        }
        if socket.core.spendsTurn(), !isGivingWay { giveWay() }
    }

    private func giveWay() {
        isGivingWay = true
        socket.core.later(on: .nextTurn) { [self] in
            isGivingWay = false
            socket.core.watchTurn(until: socket.core.endOfShare)
            takeBuffered()
        }
    }

    /// Takes datagrams that wait in the socket, as long as the body is ready for more and the turn has time left.
    func takeBuffered() {
        while socket.reader === self, pending.count < maxConcurrent, !isGivingWay {
            guard let datagram = socket.inbound.takeFirst() else { break }
            take(datagram.bytes.bytes, datagram.header)
        }
        socket.demandChanged()
    }

    private func wait(for future: Future<Void>) {
        guard socket.reader === self else { return }
        if future.isDecided(by: promise.future) {
            future.ignoreFailure()
            return fail(FutureError.cycle)
        }
        number += 1
        let id = number
        let waiting = future.mapResult { [self] result in
            pending.removeAll { $0.id == id }
            switch result {
            case .success: takeBuffered()
            case .failure(let error): fail(error)
            }
        }
        pending.append((id, waiting))
    }

    func fail(_ error: any Error) {
        guard socket.reader === self else { return }
        leave()
        promise.fail(error)
    }

    /// Ends with `error`, or successfully because the socket is closed. The socket has forgotten the reader.
    func end(because error: (any Error)?) {
        if let error { promise.fail(error) } else { promise.succeed(()) }
    }

    func cancellationRequested() {
        leave()
        for (_, wait) in pending { wait.cancel() }
    }

    private func leave() {
        guard socket.reader === self else { return }
        socket.reader = nil
        socket.demandChanged()
    }

    var subject: String? { "forEachDatagram of \(socket)" }
}
