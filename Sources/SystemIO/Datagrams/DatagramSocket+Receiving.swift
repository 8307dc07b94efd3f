public import Futures

extension DatagramSocket {
    /// Completes with the next datagram. Several calls may wait at the same time. Their futures complete in the order
    /// of the calls.
    ///
    /// When the socket is closed, the returned future is cancelled. If you cancel the future, no datagram is lost. On a
    /// connected socket, fails with ``SystemError`` if the network reports that an earlier datagram was not delivered,
    /// for example with ``SystemError/Code/connectionRefused``. Also fails with ``SystemError`` if the system cannot
    /// receive, for example for lack of memory. In both cases, the socket stays usable, and the next call waits for the
    /// next datagram. Fails with ``DatagramError/receivePending`` while a `forEachDatagram` is pending.
    ///
    /// Calls `recvmmsg`. Binds [`uv_poll_start`](https://docs.libuv.org/en/v1.x/poll.html).
    public final func receive() -> Future<Datagram> {
        core.checkThread()
        if let error = receiveRefusal { return core.failed(error) }
        if let datagram = takeBuffered() { return core.succeeded(datagram) }
        let future = waiting.wait(for: Datagram.self, self)
        demandChanged()
        return future
    }

    /// A sequence of the datagrams that come. Use it in a loop such as `for try await datagram in socket.datagrams`.
    /// The sequence ends when the socket is closed.
    ///
    /// Datagrams that the `for` loop has not taken when it ends wait for the next receiver. Reports of the network go
    /// to the handler of ``onUnreachable(_:)``. The iteration throws ``DatagramError/receivePending`` while a
    /// `forEachDatagram` is pending, and ``SystemError`` if the system cannot receive.
    public final var datagrams: LoopSequence<Datagram> {
        LoopSequence(on: core) { [self] in
            .init(asking: self, on: core, next: { self.nextForIteration() })
        }
    }

    private final func nextForIteration() -> Future<Datagram?> {
        core.checkThread()
        if transport.isClosing, !core.isShutDown { return core.succeeded(nil) }
        if let error = receiveRefusal { return core.failed(error) }
        if let datagram = takeBuffered() { return core.succeeded(datagram) }
        let future = waiting.wait(for: Datagram.self, self)
        demandChanged()
        return future.map { $0 }.recover(including: .onlyCancellation) { _ in nil }
    }

    private final var receiveRefusal: (any Error)? {
        if core.isShutDown { return FutureError.shutDown }
        if transport.isClosing { return CancellationError() }
        return reader == nil ? nil : DatagramError.receivePending
    }

    /// Takes a datagram that waits in the socket. Returns `nil` if the turn is spent: the caller then waits, and gets
    /// the datagram in the next turn.
    final func takeBuffered() -> Datagram? {
        guard reader == nil, !inbound.isEmpty else { return nil }
        guard core.spendsTurn() else { return inbound.takeFirst() }
        passOnLater()
        return nil
    }

    final func passOnLater() {
        guard !passesOnLater else { return }
        passesOnLater = true
        core.later(on: .nextTurn) { [self] in
            passesOnLater = false
            core.watchTurn(until: core.endOfShare)
            repeat {
                guard reader == nil, isAwaited, let datagram = inbound.takeFirst() else {
                    return demandChanged()
                }
                passOn(datagram)
            } while !core.spendsTurn()
            passOnLater()
        }
    }
}

extension DatagramSocket: ElementAsker {
    package final var subject: String? { "a datagram of \(self)" }

    package final func ask(for wait: ElementWait) -> Bool {
        let source = wait as! ElementSource<Datagram>
        if let datagram = takeBuffered() {
            source.deliver(datagram)
            return true
        }
        guard receiveRefusal == nil else { return false }
        askers.append(source)
        demandChanged()
        return true
    }

    package final func stopAsking(for wait: ElementWait) {
        guard let index = askers.firstIndex(where: { $0 === wait }) else { return }
        askers.remove(at: index)
        demandChanged()
    }
}
