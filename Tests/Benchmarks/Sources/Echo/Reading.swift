import Foundation
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
    /// One `readLine` after the other, in a body.
    case lines
    /// One `read(exactly:)` after the other, in a body. Of the two for each message, the second is answered at once.
    case messages

    func echo(_ connection: TCPConnection) -> Future<Void> {
        switch self {
        case .data: echoReads(connection)
        case .chunks: connection.forEachChunk { chunk in connection.write(chunk) }
        case .spans: connection.forEachSpan { bytes in connection.write(bytes) }
        case .sequence:
            Future(on: connection.loop) {
                for try await chunk in connection.chunks { try await connection.write(chunk).value }
            }
        case .lines:
            Future(on: connection.loop) {
                while let line = try await connection.readLine().value {
                    try await connection.write(line + lineEnd).value
                }
            }
        case .messages:
            Future(on: connection.loop) {
                while let head = try await connection.read(exactly: 4).value {
                    connection.write(head)
                    guard let rest = try await connection.read(exactly: 60).value else { return }
                    try await connection.write(rest).value
                }
            }
        }
    }
}

private let lineEnd = Data([UInt8(ascii: "\n")])

private func echoReads(_ connection: TCPConnection) -> Future<Void> {
    connection.read().flatMap { data in
        if data.isEmpty { return connection.loop.succeeded() }
        return connection.write(data).flatMap { echoReads(connection) }
    }
}
