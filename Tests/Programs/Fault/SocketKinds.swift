import FoundationEssentials
import Glibc
import UVFutures

func echo(_ connected: Future<some ByteStream>) -> Future<String> {
    connected.flatMap { connection in
        connection.write(payload).flatMap { connection.read(exactly: payload.count) }
            .flatMap { _ in
                connection.write(payload).flatMap { connection.shutdownWrite() }
                    .flatMap { connection.readToEnd() }
            }
            .map { done($0 == payload) }
            .always { connection.close() }
    }
}

@MainActor let socketKinds: [String: (EventLoop) throws -> Work] = [
    "tcp": { loop in
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            connection.forEachChunk { connection.write($0) }
        }
        server.onShortage = { _ in }
        server.onConnectionError = { _ in }
        let port = server.localAddress.port
        if port == 0 { throw Silent("the listener says port 0") }
        return Work {
            echo(
                TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).map { connection in
                    guard connection.localAddress != nil else {
                        throw Silent("the connection has no address")
                    }
                    return connection
                })
        } isTold: {
            server.statistics.shortages > 0
        } end: {
            server.shutdown(within: .zero).ignoreFailure()
        }
    },
    "unix": { loop in
        let path = "\(folder)/\(newName())"
        let server = try UnixServer.listen(path: path, options: ListenOptions(permissions: 0o700), on: loop) {
            connection in
            connection.forEachChunk { connection.write($0) }
        }
        server.onShortage = { _ in }
        server.onConnectionError = { _ in }
        return Work {
            echo(UnixConnection.connect(path: path, on: loop))
        } isTold: {
            server.statistics.shortages > 0
        } end: {
            server.shutdown(within: .zero).ignoreFailure()
        }
    },
    "datagrams": { loop in
        let server = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
        let served = server.forEachDatagram { bytes, header in server.send(bytes, to: header.source) }
        let address = server.localAddress
        guard address.port != 0 else { throw Silent("no port") }
        let client = try UDPSocket.connect(to: address, on: loop)
        let bytes = payload.prefix(1000)
        // What the server cannot receive or send is told there, and lost for the client.
        return Work {
            let asked = (0..<3).map { _ in client.send(bytes).flatMap { client.receive() } }
            let answered = Future.all(asked, on: loop).map { done($0.allSatisfy { $0.bytes == bytes }) }
            let ended = served.branch().map { "the server has ended" }
            return Future.race([answered, ended], cancelRemaining: .never, on: loop)
        } end: {
            served.ignoreFailure()
            client.close()
            server.close()
        }
    },
    "unixDatagrams": { loop in
        let server = try UnixDatagramSocket.bind(path: "\(folder)/\(newName())", permissions: 0o700, on: loop)
        let client = try UnixDatagramSocket.connect(
            path: server.localAddress?.path ?? "", from: "\(folder)/\(newName())", on: loop)
        return Work {
            Future(on: loop) {
                try await client.send(payload.prefix(1000)).value
                let asked = try await server.receive().value
                try await server.send(asked.bytes, to: asked.source).value
                return try await done(client.receive().value.bytes == payload.prefix(1000))
            }
        } end: {
            client.close()
            server.close()
        }
    },
    "groups": { loop in
        Work {
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                connection.loop.onUnhandledFailure = { _ in }
                return connection.forEachChunk { connection.write($0) }
            }
            let port = group.localAddress.port
            let silent = group.onEach(on: loop) { server in server.onShortage = { _ in } }
            let asked = silent.flatMap { _ in
                echo(TCPConnection.connect(host: "127.0.0.1", port: port, on: loop))
            }
            return asked.timeout(after: .milliseconds(500)).flatMapResult { result in
                group.onEach(on: loop) { $0.statistics.shortages }.flatMap { shortages in
                    group.shutdown(within: .zero, on: loop).map { _ in
                        if shortages.contains(where: { $0 > 0 }) { throw Told("shortage") }
                        return try result.get()
                    }
                }
            }
        }
    },
    "names": { loop in
        let resolver = try SystemResolver()
        return Work { resolver.resolve("localhost", port: 1, on: loop).map { done(!$0.isEmpty) } }
    },
]
