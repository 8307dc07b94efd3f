internal import ByteStreams
internal import FoundationEssentials
internal import Futures
internal import SystemIO

extension World {
    /// Adds a host that answers queries for the names of the world (``names``), by UDP and TCP on port 53.
    ///
    /// The `resolv.conf` of each host lists all name servers of the world, in the order in which they were added. So a
    /// ``DNSResolver`` on any host finds them. A world may have several name servers, so that one of them may crash or
    /// be cut off. Throws the same errors as ``addHost(_:addresses:_:)``.
    ///
    /// ```swift
    /// try world.addNameServer("ns")
    /// ```
    @discardableResult
    public func addNameServer(_ name: String = "ns", addresses: [String]? = nil) throws -> SimulatedHost {
        let host = try addHost(name, addresses: addresses) { [names] host in
            try names.serve(on: host.loop)
        }
        simulation.nameServers += host.addresses.prefix(1)
        return host
    }
}

extension SimulatedNames {
    /// Answers queries on port 53 of the host of `loop`.
    fileprivate func serve(on loop: EventLoop) throws {
        let socket = try UDPSocket.bind(host: "::", port: ResolvConf.port, on: loop)
        let datagrams = socket.forEachDatagram { [self] bytes, header in
            guard let answer = reply(to: Array(Data(copying: bytes)), byConnection: false) else { return }
            let sent = loop.sleep(for: latency).flatMap {
                socket.send(answer, to: header.source, from: header.localAddress)
            }
            sent.ignoreFailure()
        }
        datagrams.ignoreFailure()
        let server = try TCPServer.listen(host: "::", port: ResolvConf.port, on: loop) { [self] connection in
            serve(connection)
        }
        server.onConnectionError = { _ in }
    }

    /// Answers the queries of a connection. Each query is preceded by its length.
    private func serve(_ connection: TCPConnection) -> Future<Void> {
        connection.forEachMessage(decodedBy: LengthPrefixDecoder(.uint16)) { [self] frame, bytes in
            let query = Array(Data(copying: bytes.extracting(frame)))
            guard let answer = reply(to: query, byConnection: true) else {
                return connection.loop.never(of: Void.self)
            }
            let size = [UInt8(answer.count >> 8), UInt8(truncatingIfNeeded: answer.count)]
            return connection.loop.sleep(for: latency).flatMap { connection.write(size + answer) }
        }
    }
}
