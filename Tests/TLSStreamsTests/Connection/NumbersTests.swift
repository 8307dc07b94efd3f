import FuturesTesting
import TLSStreams
import TestSupport
import Testing

/// Each number is checked where it is given.
struct NumbersTests {
    @Test("ports, times and limits of encrypted connections are in their range")
    func connections() throws {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { _ in }
        defer { loop.shutdown() }
        let (client, server) = (try loop.client(), try loop.server())
        func connect(
            port: Int = 1, timeout: Duration = .seconds(1), handshakeTimeout: Duration = .seconds(1),
            _ change: (inout StreamLimits) -> Void = { _ in }
        ) -> Future<TLSConnection> {
            var limits = StreamLimits()
            change(&limits)
            return TLSConnection.connect(
                host: "127.0.0.1", port: port, context: client, timeout: timeout,
                handshakeTimeout: handshakeTimeout, limits: limits)
        }
        let positive = Duration.nanoseconds(1)...
        expectRefused("port", outside: 1...65_535) { connect(port: $0) }
        expectRefused("timeout", outside: Duration.zero...) { connect(timeout: $0) }
        expectRefused("handshakeTimeout", outside: positive) { connect(handshakeTimeout: $0) }
        expectRefused("writeCap", outside: 0...) { cap in connect { $0.writeCap = cap } }
        for limit in [
            \StreamLimits.idleTimeout, \.readTimeout, \.framingTimeout, \.handshakeTimeout, \.writeTimeout,
        ] {
            expectRefused("a time limit", outside: positive) { time in connect { $0[keyPath: limit] = time } }
        }
        expectRefused("startTLS(client:)", outside: positive) { time in
            let (near, far) = try MemoryStream.pair(on: loop)
            defer { for stream in [near, far] { stream.abort() } }
            return near.startTLS(client: client, host: "localhost", timeout: time)
        }
        expectRefused("startTLS(server:)", outside: positive) { time in
            let (near, far) = try MemoryStream.pair(on: loop)
            defer { for stream in [near, far] { stream.abort() } }
            return near.startTLS(server: server, timeout: time)
        }
        for time in Duration.edges where time >= .zero { client.expiryNotice = time }
        loop.advance(by: .seconds(1))
    }

    @Test("a notice of expiry after the expiry ends the process with a sentence")
    func expiryNotice() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try EventLoop.virtual().server().expiryNotice = .seconds(-1)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("TLSContext.expiryNotice was set to -1.0 seconds. Give zero or more."))
    }

    @Test("ports, times and limits of encrypted servers are in their range")
    func servers() throws {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let context = try loop.server()
        func listen(
            port: Int = 0, backlog: Int = 1, _ change: (inout TLSHandshakeLimits) -> Void = { _ in }
        ) throws {
            var handshakes = TLSHandshakeLimits()
            change(&handshakes)
            let server = try TLSServer.listen(
                host: "127.0.0.1", port: port, context: context, options: ListenOptions(backlog: backlog),
                handshakes: handshakes,
                owning: { _ in })
            try loop.run(until: server.shutdown(within: .zero).map { _ in })
        }
        expectRefused("port", outside: 0...65_535) { try listen(port: $0) }
        expectRefused("backlog", outside: 0...Int(Int32.max)) { try listen(backlog: $0) }
        expectRefused("maxConcurrent", outside: 1...) { count in try listen { $0.maxConcurrent = count } }
        let positive = Duration.nanoseconds(1)...
        expectRefused("timeout", outside: positive) { time in try listen { $0.timeout = time } }
        expectRefused("greetingTimeout", outside: positive) { time in
            try listen { $0.greetingTimeout = time }
        }
        let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: context, owning: { _ in })
        expectRefused("drain at a signal", outside: Duration.zero...) {
            server.drain(on: .terminate, within: $0)
        }
        expectRefused("drain", outside: Duration.zero...) { server.drain(within: $0) }
        expectRefused("shutdown", outside: Duration.zero...) { server.shutdown(within: $0) }
    }
}
