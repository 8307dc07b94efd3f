internal import ByteStreams
internal import Futures

extension SocketServer {
    /// The nanoseconds before a silent peer may have to make room: enough for a round trip around the world.
    package static var patience: UInt64 { 250_000_000 }

    /// The first duty of a new connection's peer.
    var firstDuty: SocketConnection.Duty {
        if expectsGreetings || proxyRules != nil { return .introduction }
        return acceptLimits.peersSpeakFirst ? .message : .none
    }

    /// Notes that the peer of `connection` has introduced itself, by a header or a greeting.
    package func didIntroduceItself(_ connection: SocketConnection) {
        connection.duty = .none
    }

    /// Awaits the first message of `connection` from now on, if peers speak first.
    package func awaitMessage(of connection: SocketConnection) {
        connection.duty = .none
        guard acceptLimits.peersSpeakFirst else { return }
        renew(connection.carried == nil ? .message : .carriedMessage, of: connection)
    }

    /// Awaits the next message of an introduction from now on, which the peer owes.
    package func awaitAnswer(of connection: SocketConnection) { renew(.answer, of: connection) }

    private func renew(_ duty: SocketConnection.Duty, of connection: SocketConnection) {
        guard connection.isOpen else { return }
        connection.duty = duty
        connections.renew(connection, at: core.clock)
        if isFull { lookForSilence() }
    }

    /// The number of places that are taken. Connections that have made room do not count, even if still open.
    var placesTaken: Int { activeConnections - makingRoom }

    /// The connection that can make room for another one. `nil` if no peer has been silent for long enough.
    var silentConnection: SocketConnection? {
        let now = core.clock
        return now < Self.patience ? nil : connections.awaited(since: now - Self.patience)
    }

    /// Ends the connection of the peer that has been silent longest.
    func makeRoom() {
        if let connection = silentConnection { endForAnother(connection) }
    }

    /// Ends `connection`, whose peer is silent, for another one.
    package func endForAnother(_ connection: SocketConnection) {
        makingRoom += 1
        connection.connectionBroke(StreamError.madeRoom)
        guard core.isObserved, silence.admits(at: core.clock) else { return }
        core.tell(
            .warning(
                "\(connection) was reset to make room for another connection, since its peer had not completed its first "
                    + "message. Reported at most once a minute; statistics count these connections as madeRoom."
            ))
    }

    /// Accepts again when a silent connection may make room.
    func lookForSilence() {
        guard silenceTimer == nil, let since = connections.awaitedSince else { return }
        let (now, end) = (core.clock, since.addingSaturated(Self.patience))
        // If that time is over already, bytes of the peer wait in the system, and will have been read by the next look.
        let wait = end > now ? end - now : Self.patience
        silenceTimer = loop.schedule(after: .nanoseconds(wait)) { [self] in
            silenceTimer = nil
            guard isFull else { return }
            guard silentConnection != nil else { return lookForSilence() }
            isFull = false
            for acceptor in acceptors { acceptor.resume() }
        }
    }
}

extension SocketConnection {
    /// The duty of a connection's peer: once it is done, the connection has its place for good.
    enum Duty {
        case none
        /// To send a header or a greeting. The code that reads it says when it is complete.
        case introduction
        /// To send the next message of an introduction. Bytes of it that have arrived count, even if unread.
        case answer
        /// To complete a message.
        case message
        /// To complete a message of the connection that this one carries.
        case carriedMessage
    }

    /// Whether the peer has not done its duty yet, so that the server waits for it.
    var isAwaited: Bool {
        switch duty {
        case .none: false
        case .introduction, .answer: isOpen
        case .message: isOpen && takenBytes <= introductionSize
        case .carriedMessage: isOpen && carried?.takenBytes == 0
        }
    }
}
