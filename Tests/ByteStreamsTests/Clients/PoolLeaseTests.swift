import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct PoolLeaseTests {
    @Test("a lease that is dropped discards its connection, and one that is released twice counts once")
    func leases() throws {
        var limits = PoolLimits()
        limits.maxConnections = 1
        try withPool(limits) { pool, server, loop in
            let dropped = pool.acquire().map { _ in }
            settle(loop)
            #expect(dropped.succeeded && pool.lentCount == 0 && server.ends[0].closed.isCompleted)
            let lease = pool.acquire()
            settle(loop)
            lease.now?.release()
            lease.now?.release()
            lease.now?.discard()
            #expect(pool.idleCount == 1 && pool.lentCount == 0)
            let (one, two) = (ask(pool, "a"), ask(pool, "b"))
            settle(loop)
            #expect(pool.lentCount == 1 && pool.waitingCount == 1)
            one.cancel()
            two.cancel()
        }
    }
}
