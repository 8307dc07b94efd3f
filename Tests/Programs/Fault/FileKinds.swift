import FoundationEssentials
import Glibc
import UVFutures

@MainActor func fileWork(_ directory: Directory, _ name: String) async throws -> String {
    try await directory.makeDirectory(name).value
    let inner = try await directory.openDirectory(name).value
    let file = try await inner.open("a", .readWrite, creating: .always).value
    try await file.write(payload, at: 0).value
    try await file.append(payload).value
    try await file.truncate(to: payload.count).value
    try await file.sync().value
    try await file.setPermissions(to: 0o600).value
    let bytes = try await file.readAll().value
    try await file.close().value
    try await inner.replace("b", with: bytes).value
    try await inner.rename("b", to: "c").value
    try await inner.setPermissions(of: "c", to: 0o640).value
    try await inner.makeSymbolicLink("d", to: "c").value
    _ = try await inner.target(ofSymbolicLink: "d").value
    try await inner.link("c", as: "e").value
    _ = try await inner.information(of: "e").value
    let unnamed = try await inner.makeTemporaryFile().value
    try await inner.link(unnamed, as: "f").value
    try await unnamed.close().value
    var count = 0
    for try await _ in inner.entries() { count += 1 }
    let isRight = try await inner.contents(of: "c").value == payload && count == 5
    try await inner.close().value
    try await directory.removeTree(name).value
    return done(isRight)
}

/// A stream over a descriptor, which is closed if that fails.
func adopt(_ descriptor: CInt, on loop: EventLoop) throws -> DescriptorStream {
    guard descriptor >= 0 else { throw Told("open") }
    do {
        return try DescriptorStream(adopting: descriptor, on: loop)
    } catch {
        close(descriptor)
        throw error
    }
}

@MainActor func streamWork(_ name: String, on loop: EventLoop) async throws -> String {
    let directory = try await Directory.open(folder, on: loop).value
    let file = try await directory.open(name, .readWrite, creating: .always).value
    let stream = try file.stream()
    try await stream.write(payload).value
    try await stream.close().value
    let bytes = try await file.stream().readToEnd().value
    let descriptor = open("\(folder)/\(name)", O_RDWR | O_APPEND)
    let appending = try adopt(descriptor, on: loop)
    try await appending.write(payload).value
    try await appending.close().value
    return done(bytes == payload)
}

@MainActor func sendFile(_ name: String, to connection: TCPConnection, on loop: EventLoop) async throws {
    let directory = try await Directory.open(folder, on: loop).value
    let file = try await directory.open(name).value
    _ = try await file.copy(to: connection).value
    try await connection.shutdownWrite().value
}

@MainActor let fileKinds: [String: (EventLoop) throws -> Work] = [
    "files": { loop in
        let directory = Directory.open(folder, on: loop)
        return Work {
            let name = newName()
            return directory.flatMap { directory in
                Future(on: loop) { try await fileWork(directory, name) }
            }
        } end: {
            directory.flatMap { $0.close() }.ignoreFailure()
        }
    },
    "streams": { loop in
        Work {
            let name = newName()
            return Future(on: loop) { try await streamWork(name, on: loop) }
        }
    },
    "redirected": { loop in
        let path = "\(folder)/\(newName())"
        return Work {
            let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
            let stream = try adopt(descriptor, on: loop)
            return stream.write(payload).flatMap { stream.close() }.flatMap {
                let reading = try adopt(open(path, O_RDONLY), on: loop)
                return reading.readToEnd().map { done($0 == payload) }.always { reading.close() }
            }
        }
    },
    "sendfile": { loop in
        let name = newName()
        try payload.write(to: URL(filePath: "\(folder)/\(name)"))
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            Future(on: loop) { try await sendFile(name, to: connection, on: loop) }
        }
        server.onShortage = { _ in }
        server.onConnectionError = { _ in }
        let port = server.localAddress.port
        return Work {
            TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).flatMap { connection in
                connection.readToEnd().always { connection.close() }
            }
            .map { if $0 == payload { "done" } else { throw Told("less has come") } }
        } isTold: {
            server.statistics.shortages > 0
        } end: {
            server.shutdown(within: .zero).ignoreFailure()
        }
    },
    "filesContext": { loop in
        Work { RemoteContext.files.execute(on: loop) { "done" } }
    },
]
