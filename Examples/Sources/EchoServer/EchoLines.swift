import UVFutures

/// Sends each line back when it is complete, until the client ends.
func echoLines(of connection: ByteStream) -> Future<Void> {
    connection.readLine().flatMap { line in
        guard let line else { return connection.loop.succeeded() }
        return connection.write(line + [UInt8(ascii: "\n")]).flatMap { echoLines(of: connection) }
    }
}
