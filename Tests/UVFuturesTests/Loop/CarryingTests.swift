import TestSupport
import Testing
import UVFutures

/// Connections and listeners that are carried to another thread in ways that compile, as futures are in the core's tests
/// of that name.
struct CarryingTests {
    enum Way: String, CaseIterable, Codable, CustomTestStringConvertible {
        case write, read, chunks, foreignActor, capturedClass, drop, accept, close

        var testDescription: String { rawValue }
    }

    private final class Session {
        var connection: TCPConnection?

        init(_ connection: TCPConnection) { self.connection = connection }
    }

    /// Its executor is Swift's own.
    private actor Foreign {
        func abort(_ connection: sending TCPConnection) { connection.abort() }
    }

    /// Begins on the loop's thread.
    private static func carry(_ way: Way, _ loop: EventLoop) async throws {
        let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
        let port = listener.localAddress.port
        let connection = try await TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).value
        switch way {
        case .write: await Task.detached { _ = connection.write("hello") }.value
        case .read: await Task.detached { _ = connection.read() }.value
        case .chunks: try await Task.detached { for try await _ in connection.chunks {} }.value
        case .foreignActor: await Foreign().abort(connection)
        case .capturedClass:
            let session = Session(connection)
            await Task.detached { _ = session.connection?.close() }.value
        case .drop:
            loop.observe { _ in precondition(loop.isCurrent, "the observer was called elsewhere") }
            let session = try await idleSession(port, loop)
            // What has connected it has let go of it by then.
            try await loop.sleep(for: .milliseconds(1)).value
            await Task.detached { session.connection = nil }.value
        case .accept: await Task.detached { _ = listener.accept() }.value
        case .close: await Task.detached { _ = listener.close() }.value
        }
    }

    private static func idleSession(_ port: Int, _ loop: EventLoop) async throws -> Session {
        var limits = StreamLimits()
        limits.idleTimeout = .seconds(60)
        return Session(
            try await TCPConnection.connect(host: "127.0.0.1", port: port, limits: limits, on: loop).value)
    }

    @Test(
        "a connection or a listener, carried to another thread as the compiler permits",
        arguments: Way.allCases)
    func carried(way: Way) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [way] in
            try onThread {
                let loop = try EventLoop()
                let body = Future(on: loop) {
                    try await withTaskExecutorPreference(globalConcurrentExecutor) {
                        try await CarryingTests.carry(way, loop)
                    }
                }
                try loop.run(until: body)
            }
        }
        let printed = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(printed.contains("This future, promise or timer was used on a thread of Swift's pool:"))
    }
}
