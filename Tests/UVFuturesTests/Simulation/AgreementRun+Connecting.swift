import FoundationEssentials
import UVFutures

extension AgreementRun {
    private static var limits: StreamLimits {
        var limits = StreamLimits()
        // No time passes but the one that a step asks for.
        limits.closeTimeout = .seconds(3600)
        limits.framingTimeout = nil
        limits.writeTimeout = nil
        return limits
    }

    private static func limits(_ limit: Program.Limit?) -> StreamLimits {
        let time = Duration.milliseconds(20)
        var limits = limits
        switch limit {
        case .idle: limits.idleTimeout = time
        case .read: limits.readTimeout = time
        case .framing: limits.framingTimeout = time
        case .handshake: limits.handshakeTimeout = time
        case .write: limits.writeTimeout = time
        case .cap: limits.writeCap = 65_536
        case nil: break
        }
        return limits
    }

    // MARK: Connecting

    func connect(
        _ number: Int, from: Int, to place: Program.Place, _ limit: Program.Limit?, _ timeout: Duration
    ) throws {
        let door = try open(place)
        let limits = Self.limits(limit)
        let future: Future<SocketConnection>
        switch place.carrier {
        case .tcp:
            future = TCPConnection.connect(
                host: stage.host(place.peer), port: door.port, timeout: timeout, limits: limits,
                on: stage.loop(from)
            ).map { $0 }
        case .unix:
            // The ends of such a connection are on one host.
            future = UnixConnection.connect(
                path: path(place), timeout: timeout, limits: limits, on: stage.loop(place.peer)
            ).map { $0 }
        }
        let client = AgreementEnd("\(number).client", start: 2 * number * 1009)
        let server = AgreementEnd("\(number).server", start: (2 * number + 1) * 1009)
        (client.peer, server.peer) = (server, client)
        server.isEcho = place.door.isServer
        ends[number] = (client, server)
        if !server.isEcho { doors[place]!.waiting.append(number) }
        outcomes.watch("\(client.name) connects", future) { stream in
            "connected, \(agreementName(of: stream.localAddress)) with \(agreementName(of: stream.peerAddress))"
        }
        client.line = outcomes.add("\(client.name) closed")
        if !server.isEcho { server.line = outcomes.add("\(server.name) closed") }
        future.whenSuccess { self.opened(client, $0) }
    }

    private func opened(_ end: AgreementEnd, _ stream: SocketConnection) {
        end.stream = stream
        let closed = stream.closed
        closed.whenComplete { _ in end.isOver = true }
        let ending = closed.map { "well" }.recover { [weak end] in
            end?.name(ofEnd: $0) ?? agreementName(of: $0)
        }
        outcomes.watch(end.line, of: nil, ending) { $0 }
    }

    func beRefused(from: Int, to: Int, _ carrier: Program.Carrier) {
        let name = "\(from) connects to nobody by \(carrier)"
        switch carrier {
        case .tcp:
            let connecting = TCPConnection.connect(
                host: stage.host(to), port: stage.closedPort(to), on: stage.loop(from))
            outcomes.watch(name, connecting) { _ in "connected" }
        case .unix:
            for path in ["\(stage.directory)/none", "@\(stage.directory)/none"] {
                let connecting = UnixConnection.connect(path: path, on: stage.loop(from))
                outcomes.watch(name, connecting) { _ in "connected" }
            }
        }
    }

    // MARK: Listening

    private func path(_ place: Program.Place) -> String {
        "\(stage.directory)/\(place.peer)-\(place.door)"
    }

    private func open(_ place: Program.Place) throws -> AgreementDoor {
        if let door = doors[place] { return door }
        let door = place.door.isServer ? try serve(place) : try listen(place)
        doors[place] = door
        return door
    }

    private func listen(_ place: Program.Place) throws -> AgreementDoor {
        let loop = stage.loop(place.peer)
        let backlog = place.door == .narrow ? 1 : 1024
        switch place.carrier {
        case .tcp:
            let listener = try TCPListener(
                host: stage.host(place.peer), port: 0,
                options: ListenOptions(backlog: backlog, limits: Self.limits), on: loop)
            return AgreementDoor(
                port: listener.localAddress.port, accept: { listener.accept().map { $0 } },
                close: { listener.close().map { "closed" } })
        case .unix:
            let listener = try UnixListener(
                path: path(place), options: ListenOptions(backlog: backlog, limits: Self.limits), on: loop)
            return AgreementDoor(
                accept: { listener.accept().map { $0 } }, close: { listener.close().map { "closed" } })
        }
    }

    func accept(at place: Program.Place) throws {
        let future = try open(place).accept()
        future.whenSuccess { stream in
            let both = self.ends[self.doors[place]!.waiting.removeFirst()]!
            self.opened(both.server, stream)
            guard place.carrier == .tcp, let client = both.client.stream else { return }
            if client.peerAddress != stream.localAddress || client.localAddress != stream.peerAddress {
                self.outcomes.report("the ends of \(both.server.name) do not agree on their addresses")
            }
        }
        outcomes.watch("\(place.peer) accepts by \(place.carrier)", future) { stream in
            "accepted, \(agreementName(of: stream.localAddress)) with \(agreementName(of: stream.peerAddress))"
        }
    }

    func closeListener(at place: Program.Place) {
        guard let door = doors[place] else { return }
        doors[place]!.waiting = []
        doors[place]!.accept = { [stage] in stage.loop(place.peer).failed(CancellationError()) }
        outcomes.watch("\(place.peer) closes its listener of \(place.carrier)", door.close()) { $0 }
    }

    // MARK: Serving

    private func serve(_ place: Program.Place) throws -> AgreementDoor {
        let loop = stage.loop(place.peer)
        switch place.carrier {
        case .tcp:
            let server: TCPServer =
                switch place.door {
                case .taskEcho: TCPServer(on: loop, awaiting: echo)
                case .pipe: TCPServer(on: loop) { connection in connection.pipe(to: connection) }
                default: TCPServer(on: loop, echo)
                }
            let address = try server.listen(
                host: stage.host(place.peer), port: 0, options: ListenOptions(limits: Self.limits))
            return door(server, at: place, port: address.port)
        case .unix:
            let server: UnixServer =
                switch place.door {
                case .taskEcho: UnixServer(on: loop, awaiting: echo)
                case .pipe: UnixServer(on: loop) { connection in connection.pipe(to: connection) }
                default: UnixServer(on: loop, echo)
                }
            try server.listen(path: path(place), options: ListenOptions(limits: Self.limits))
            return door(server, at: place)
        }
    }

    private func door<Connection>(
        _ server: SocketServer<Connection>, at place: Program.Place, port: Int = 0
    ) -> AgreementDoor {
        let name = "\(place.peer)'s server of \(place.door) by \(place.carrier)"
        server.onConnectionError = { [outcomes] in outcomes.report("the server: \(agreementName(of: $0))") }
        let progress = {
            let statistics = server.statistics
            let closes = statistics.closes.map { "\($0) \($1)" }.sorted().joined(separator: ", ")
            return "\(statistics.accepted) accepted; \(closes)"
        }
        return AgreementDoor(
            port: port, accept: { server.loop.failed(CancellationError()) },
            close: { server.drain(within: .seconds(3600)).map { "\($0); \(progress())" } },
            progress: { "\(name): \(progress())" })
    }

    func drain(_ place: Program.Place) {
        guard let door = doors[place] else { return }
        outcomes.watch("\(place.peer) drains its server of \(place.carrier)", door.close()) { $0 }
    }
}

private func echo(_ connection: SocketConnection) -> Future<Void> {
    connection.forEachChunk { chunk in connection.write(chunk) }
}

private func echo(_ connection: SocketConnection) async throws {
    for try await chunk in connection.chunks { try await connection.write(chunk).value }
}
