import Foundation
import UVFutures

/// A Redis of a test, with files of its own, which writes each command to its disk before it answers.
final class RedisServer {
    static let path = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].first(
        where: FileManager.default.isExecutableFile(atPath:))

    let port: Int
    private let loop: EventLoop
    private let directory: URL
    private var process: ChildProcess?

    init(on loop: EventLoop) throws {
        self.loop = loop
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        // Redis does not say which port it has, so it is given one that was free a moment ago.
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { $0.close() }
        port = server.localAddress.port
        _ = try loop.run(until: server.shutdown(within: .zero))
        try start()
    }

    func start() throws {
        var program = ChildProcess.Configuration(
            Self.path!, "--bind", "127.0.0.1", "--port", "\(port)", "--dir", directory.path, "--appendonly",
            "yes", "--appendfsync", "always", "--save", "")
        program.standardOutput = .null
        process = try ChildProcess.start(program, on: loop)
    }

    func kill() throws {
        guard let process else { return }
        try process.send(.kill)
        _ = try loop.run(until: process.exit)
        self.process = nil
    }

    /// Ends it, and removes its files.
    func end() throws {
        try kill()
        try FileManager.default.removeItem(at: directory)
    }
}
