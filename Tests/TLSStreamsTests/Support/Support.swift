import Foundation
import FuturesTesting
import TLSStreams
import Testing
import UVFutures

/// The systems on which a test runs.
enum TestNetwork: String, CaseIterable, Codable, CustomTestStringConvertible {
    case system, virtual

    var testDescription: String { rawValue }

    func makeLoop() throws -> EventLoop { self == .system ? try EventLoop() : .virtual() }
}

/// Runs `body` with a loop of its own, shuts that down, and proves that nothing is left of it.
func withLoop(
    _ network: TestNetwork = .virtual, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (EventLoop) throws -> Void
) throws {
    let loop = try network.makeLoop()
    let before = loop.statistics.alive
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    defer {
        loop.shutdown()
        loop.onUnhandledFailure = nil
        #expect(loop.statistics.alive == before, "\(loop.dump())", sourceLocation: sourceLocation)
        #expect(unhandled.isEmpty, sourceLocation: sourceLocation)
    }
    try body(loop)
}

/// Runs `body` with a directory that has certificates and keys.
func withDirectory(_ body: (URL, EventLoop) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for (name, text) in [
        ("ca.pem", Authority.root.certificate), ("server.pem", Authority.server.certificate),
        ("server.key", Authority.server.key.pem), ("client.pem", Authority.client.certificate),
        ("client.key", Authority.client.key.pem),
    ] {
        try text.write(to: directory.appending(path: name), atomically: true, encoding: .utf8)
    }
    try withLoop(.system) { loop in try body(directory, loop) }
}

extension LoopStatistics {
    /// What has to be as it was when all is done.
    var alive: [Int] { [futures, promises, timers, handles, connections, readyCallbacks] }
}

extension TLSServerConfiguration {
    /// The server that clients trust by default.
    static var usual: TLSServerConfiguration { TLSServerConfiguration(identity: Authority.server.identity()) }
}

extension TLSClientConfiguration {
    static var usual: TLSClientConfiguration {
        var configuration = TLSClientConfiguration()
        configuration.trust = .authorities([Authority.root.file])
        return configuration
    }
}

/// Both ends of an encrypted connection.
struct Pair {
    let client: TLSConnection
    let server: TLSConnection
}

extension EventLoop {
    func server(_ configuration: TLSServerConfiguration = .usual) throws -> TLSContext {
        try .server(configuration, on: self)
    }

    func client(_ configuration: TLSClientConfiguration = .usual) throws -> TLSContext {
        try .client(configuration, on: self)
    }

    /// Two ends of a connection in memory, encrypted.
    func pair(
        _ serverContext: TLSContext? = nil, _ clientContext: TLSContext? = nil, host: String = "localhost",
        limits: StreamLimits = StreamLimits(), capacity: Int = 65_536
    ) throws -> Pair {
        let (near, far) = try MemoryStream.pair(on: self, limits: limits, capacity: capacity)
        let server = far.startTLS(server: try serverContext ?? self.server(), limits: limits)
        let client = near.startTLS(client: try clientContext ?? self.client(), host: host, limits: limits)
        return Pair(client: try run(until: client), server: try run(until: server))
    }

    /// How both sides of a handshake in memory end: the error of the client, and that of the server. A side whose
    /// handshake succeeds tells what its first read fails with.
    func failures(
        _ serverContext: TLSContext, _ clientContext: TLSContext, host: String = "localhost"
    ) throws -> (client: (any Error)?, server: (any Error)?) {
        let (near, far) = try MemoryStream.pair(on: self)
        let server = far.startTLS(server: serverContext).flatMap { $0.read() }
        let client = near.startTLS(client: clientContext, host: host).flatMap { $0.read() }
        return (failure(of: client), failure(of: server))
    }

    /// The error that `future` fails with, once it does.
    func failure<Value>(of future: Future<Value>) -> (any Error)? {
        do {
            _ = try run(until: future)
            return nil
        } catch {
            return error
        }
    }

    func close(_ pair: Pair) throws {
        let closes = [pair.client.close(), pair.server.close()]
        for close in closes { try run(until: close) }
    }
}

func reason(_ error: (any Error)?) -> TLSError.Reason? { (error as? TLSError)?.reason }

/// The text of the invalid argument that `body` complains of.
func complaint(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        if case .invalidArgument(let text) = error as? FutureError { return text }
        return "another error: \(error)"
    }
}

/// The first bytes that a client sends.
func greeting(of client: TLSContext) throws -> Data {
    let (near, far) = try MemoryStream.pair(on: client.loop)
    near.startTLS(client: client, host: "localhost").ignoreFailure()
    defer { far.abort() }
    return try client.loop.run(until: far.read())
}
