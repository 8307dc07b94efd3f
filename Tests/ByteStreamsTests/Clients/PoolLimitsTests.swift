import ByteStreams
import Futures
import FuturesTesting
import Testing

struct PoolLimitsTests {
    @Test("the defaults are those of the documentation")
    func defaults() {
        let limits = PoolLimits()
        #expect(limits.maxConnections == 16 && limits.maxWaiting == 1000)
        #expect(limits.waitTimeout == .seconds(30) && limits.idleTimeout == .seconds(60))
    }

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
