import UVFutures

/// The ways to read that are compared.
enum Reading: String, CaseIterable {
    /// A loop of `read()`s, each a `Future<Data>`.
    case data
    /// Chunk after chunk, each a `Data` of its own.
    case chunks
    /// What has come, borrowed from the loop's buffer.
    case spans
    /// `for try await`.
    case sequence

    func echo(_ connection: TCPConnection) -> Future<Void> {
        switch self {
        case .data: echoReads(connection)
        case .chunks: connection.forEachChunk { chunk in connection.write(chunk) }
        case .spans: connection.forEachSpan { bytes in connection.write(bytes) }
        case .sequence:
            Future(on: connection.loop) {
                for try await chunk in connection.chunks { try await connection.write(chunk).value }
            }
        }
    }
}

private func echoReads(_ connection: TCPConnection) -> Future<Void> {
    connection.read().flatMap { data in
        if data.isEmpty { return connection.loop.succeeded() }
        return connection.write(data).flatMap { echoReads(connection) }
    }
}
