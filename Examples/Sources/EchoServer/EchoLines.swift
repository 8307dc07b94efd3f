import UVFutures

/// Sends each line back when it is complete, until the client ends.
func echoLines(of connection: SocketConnection, _ counts: Counts) -> Future<Void> {
    connection.readLine().flatMap { line in
        guard let line else { return connection.loop.succeeded() }
        counts.received(line.count + 1)
        return connection.write(line + [UInt8(ascii: "\n")]).flatMap { echoLines(of: connection, counts) }
    }
}
