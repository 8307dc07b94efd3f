import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// Gives `body` a pool of a played server, afterwards drains it, and proves that nothing is left alive.
func withPool(
    _ limits: PoolLimits = PoolLimits(), isSilent: Bool = false,
    _ body: (ConnectionPool<MemoryStream>, PlayedServer, EventLoop) throws -> Void
) throws {
    let loop = EventLoop.virtual()
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    weak var weakPool: ConnectionPool<MemoryStream>?
    do {
        let server = PlayedServer(on: loop)
        server.isSilent = isSilent
        let pool = try ConnectionPool(limits: limits, on: loop, connect: server.connect)
        weakPool = pool
        try body(pool, server, loop)
        let drained = pool.drain(within: .zero)
        loop.advance(by: .seconds(1))
        #expect(drained.succeeded && pool.lentCount == 0 && pool.idleCount == 0)
        server.endAll()
        loop.advance(by: .seconds(10))
    }
    loop.advance(by: .seconds(100))
    #expect(weakPool == nil)
    #expect(unhandled.isEmpty, "\(unhandled)")
    expectNothingAlive(on: loop)
}

func ask(_ pool: ConnectionPool<MemoryStream>, _ text: String) -> Future<Data> {
    pool.with { connection in
        connection.write(text)
        return connection.readLine().unwrap()
    }
}
