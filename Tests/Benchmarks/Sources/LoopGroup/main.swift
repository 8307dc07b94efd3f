// An echo server on several loops, which is asked what the loops share.
//
// Usage: LoopGroup LOOPS chunks|spans|reads|bodies|pool|names|clients

import Glibc
import UVFutures

/// What the server does with each message before it sends it back.
enum Way: String, CaseIterable {
    case chunks, spans, reads, bodies
    /// A job of the pool.
    case pool
    /// A look-up of a name.
    case names
    /// A connection of its own, to this server.
    case clients
}

func listen(_ way: Way, loops: Int) throws -> TCPServerGroup {
    if way == .bodies {
        return try .listen(host: "127.0.0.1", port: 0, loops: loops) { connection in
            for try await chunk in connection.chunks { try await connection.write(chunk).value }
        }
    }
    return try .listen(host: "127.0.0.1", port: 0, loops: loops) { connection -> Future<Void> in
        let loop = connection.loop
        return switch way {
        case .chunks, .bodies: connection.forEachChunk { chunk in connection.write(chunk) }
        case .spans: connection.forEachSpan { bytes in connection.write(bytes) }
        case .reads: echoReads(connection)
        case .pool:
            connection.forEachChunk { chunk in
                loop.succeeded().map(on: .pool) { chunk.count }.flatMap { _ in connection.write(chunk) }
            }
        case .names:
            connection.forEachChunk { chunk in
                loop.resolver.resolve("localhost", port: 1, on: loop).flatMap { _ in connection.write(chunk) }
            }
        case .clients:
            connection.forEachChunk { chunk in
                TCPConnection.connect(host: "127.0.0.1", port: connection.localAddress!.port, on: loop)
                    .flatMap {
                        $0.close()
                        return connection.write(chunk)
                    }
            }
        }
    }
}

func echoReads(_ connection: TCPConnection) -> Future<Void> {
    connection.read().flatMap { data in
        if data.isEmpty { return connection.loop.succeeded() }
        return connection.write(data).flatMap { echoReads(connection) }
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let loops = Int(arguments[1]), let way = Way(rawValue: arguments[2]) else {
    let line = Array("usage: LoopGroup LOOPS \(Way.allCases.map(\.rawValue).joined(separator: "|"))\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(2)
}
print("listening on \(try listen(way, loops: loops).localAddress)")
fflush(nil)
while true { pause() }
