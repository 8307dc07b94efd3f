import ByteStreams
import Futures
import FuturesTesting
import Testing

func withLoop(_ body: (EventLoop) throws -> Void) rethrows {
    let loop = EventLoop.virtual()
    try body(loop)
    #expect(loop.statistics.futures == 0 && loop.statistics.timers == 0)
    loop.shutdown()
}

func expect(_ sentence: String, in result: ExitTest.Result?) {
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(printed.contains(sentence))
}

/// Two ends of a connection, of which nothing may be left.
func withPair(
    limits: StreamLimits = StreamLimits(), capacity: Int = 65_536, faults: StreamFaults = StreamFaults(),
    _ body: (MemoryStream, MemoryStream, EventLoop) throws -> Void
) throws {
    let loop = EventLoop.virtual()
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    weak var weakEnd: MemoryStream?
    do {
        let (a, b) = try MemoryStream.pair(on: loop, limits: limits, capacity: capacity, faults: faults)
        weakEnd = a
        try body(a, b, loop)
        a.abort()
        b.abort()
        loop.advance(by: .zero)
    }
    #expect(weakEnd == nil)
    #expect(unhandled.isEmpty, "\(unhandled)")
    let alive = loop.statistics
    #expect(alive.futures == 0 && alive.promises == 0 && alive.timers == 0, "\(alive)")
    loop.onUnhandledFailure = nil
}

func outcome<Value>(_ future: Future<Value>, _ loop: EventLoop) -> Result<Value, any Error> {
    Result { try loop.run(until: future) }
}

func error<Value>(_ future: Future<Value>, _ loop: EventLoop) -> (any Error)? {
    if case .failure(let error) = outcome(future, loop) { error } else { nil }
}
