import ByteStreams
import Futures
import FuturesTesting
import Testing

@testable import WebSockets

struct WebSocketIdleTests {
    private let loop = EventLoop.virtual()
    private let ours, theirs: MemoryStream
    private let served: Future<Void>

    /// A WebSocket that sends each text back, on a stream that may be idle for 8 s.
    init() throws {
        var limits = StreamLimits()
        limits.idleTimeout = .seconds(8)
        (ours, theirs) = try MemoryStream.pair(on: loop, limits: limits)
        let socket = WebSocket(theirs) { socket, message in
            guard case .text(let text) = message else { throw StreamError.notReadable }
            return socket.send(text)
        }
        served = socket.serve()
        loop.repeat(every: .milliseconds(500)) { socket.closeIfIdle() }.future.ignoreFailure()
    }

    @Test func `an idle WebSocket is told why it is closed`() throws {
        loop.advance(by: .milliseconds(7900))
        let close = try loop.run(until: ours.read())
        #expect(Array(close) == [0x88, 30, 0x03, 0xE9] + Array("nothing has come for a while".utf8))
        ours.write([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9])
        try loop.run(until: served)
    }

    @Test func `one on which something comes or goes is not closed`() throws {
        for _ in 0..<10 {
            loop.advance(by: .seconds(6))
            ours.write([0x81, 0x81, 0, 0, 0, 0, 0x61])
            #expect(Array(try loop.run(until: ours.read())) == [0x81, 1, 0x61])
        }
    }

    @Test func `one that does not answer the close ends all the same`() throws {
        loop.advance(by: .seconds(20))
        #expect(served.isCompleted)
    }
}
