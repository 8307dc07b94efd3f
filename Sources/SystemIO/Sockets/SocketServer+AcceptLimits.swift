internal import Futures

extension SocketServer {
    /// Changes how many connections the server accepts. Open connections stay open.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the limits contradict each other, for example if
    /// `lowWaterMark` is not below `maxConnections`.
    public func setAcceptLimits(_ limits: AcceptLimits) throws {
        core.checkThread()
        try limits.validate()
        acceptLimits = limits
        for acceptor in acceptors { acceptor.share = limits.perTurn }
        isFull = false
        for acceptor in acceptors { acceptor.resume() }
    }

    /// Whether another connection may be accepted: a place is free, or a silent peer can make room.
    func hasRoom() -> Bool {
        if !isFull, isCrowded, silentConnection == nil {
            isFull = true
            lookForSilence()
            counters.pauses += 1
            if core.isObserved, fullness.admits(at: core.clock) { core.turn(warnOfFullness) }
        }
        return !isFull
    }

    /// Whether as many connections are open as `maxConnections` allows.
    private var isCrowded: Bool { placesTaken >= acceptLimits.maxConnections ?? .max }

    private func warnOfFullness() {
        let places = acceptors.map { "\($0.socket.localAddress)" }.joined(separator: ", ")
        let text =
            "a server has \(activeConnections) connections open, as many as maxConnections allows; others wait in the "
            + "backlog of \(places) until \(acceptLimits.lowMark) are left. Reported at most once a minute."
        core.tell(.warning(text))
    }

    /// Notes that another connection has been accepted. If that is one too many, a silent one makes room.
    func oneMoreCounts() {
        if placesTaken > acceptLimits.maxConnections ?? .max { makeRoom() }
    }

    /// Resumes accepting if few enough connections are open. Called when a connection no longer counts for
    /// `maxConnections`.
    func oneLessCounts() {
        if activeConnections <= acceptLimits.lowMark { isFull = false }
        for acceptor in acceptors { acceptor.resume() }
    }
}
