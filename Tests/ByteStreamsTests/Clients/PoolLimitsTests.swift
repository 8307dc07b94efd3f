import ByteStreams
import Futures
import FuturesTesting
import Testing

struct PoolLimitsTests {
    @Test("limits that make no sense are refused")
    func misuse() {
        let loop = EventLoop.virtual()
        var limits = PoolLimits()
        limits.idleTimeout = .zero
        #expect(
            throws: FutureError.invalidArgument(
                "idleTimeout must be positive, not 0.0 seconds")
        ) { try ConnectionPool(limits: limits, on: loop) { loop.never(of: ByteStream.self) } }
        limits = PoolLimits()
        limits.maxConnections = 0
        #expect(throws: FutureError.self) {
            try ConnectionPool(limits: limits, on: loop) { loop.never(of: ByteStream.self) }
        }
    }
}
