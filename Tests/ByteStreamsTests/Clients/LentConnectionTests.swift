import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct LentConnectionTests {
    @Test(
        "a connection that is still read, or that has ended its writing, is closed when it comes back",
        arguments: [false, true])
    func unfit(isRead: Bool) throws {
        try withPool { pool, server, loop in
            let lent = pool.acquire()
            settle(loop)
            let lease = try #require(lent.now)
            let read = isRead ? lease.connection.read() : nil
            if !isRead { try loop.run(until: lease.connection.shutdownWrite()) }
            lease.release()
            #expect(pool.idleCount == 0 && pool.lentCount == 0 && !lease.connection.isOpen)
            read?.ignoreFailure()
        }
    }

    @Test("a connection that is lent again has no time limit of the pool any more")
    func timers() throws {
        try withPool { pool, server, loop in
            let first = pool.acquire()
            settle(loop)
            first.now?.release()
            #expect(loop.statistics.timers == 1)
            let second = pool.acquire()
            settle(loop)
            #expect(loop.statistics.timers == 0)
            second.now?.release()
        }
    }

    @Test("a connection that is made after the end of a drain is aborted, and counts as given up")
    func madeTooLate() throws {
        let loop = EventLoop.virtual()
        let server = PlayedServer(on: loop)
        let promise = loop.makePromise(of: MemoryStream.self)
        promise.onCancelRequest { .continue }
        let pool = try ConnectionPool(on: loop) { promise.future }
        let request = pool.acquire()
        let drained = pool.drain(within: .seconds(1))
        loop.advance(by: .seconds(1))
        #expect(!drained.isCompleted)
        promise.succeed(try server.makePair())
        settle(loop)
        #expect(request.now?.connection.isOpen == false && server.ends[0].closed.isCompleted)
        request.now?.release()
        settle(loop)
        #expect(drained.now == 1)
        server.endAll()
        settle(loop)
    }

    @Test("a snapshot names a request that waits until a connection is made")
    func named() throws {
        try withPool(isSilent: true) { pool, server, loop in
            loop.isTraced = true
            let request = pool.acquire()
            let names = loop.snapshot().items.map(\.text)
            #expect(names.contains { $0.hasPrefix("a connection for a pool") }, "\(names)")
            request.cancel()
        }
    }

    @Test("a scope that gets a pool that has ended does not wait for it")
    func ended() throws {
        try withPool { pool, server, loop in
            _ = try loop.run(until: pool.drain(within: .zero))
            let scope = FutureScope(on: loop)
            scope.add(pool)
            scope.drain(within: .seconds(100))
            settle(loop)
            #expect(scope.ended.succeeded)
        }
    }

    @Test("a scope that is cancelled aborts a connection that its pool is closing")
    func cancelled() throws {
        let loop = EventLoop.virtual()
        let (near, far) = try MemoryStream.pair(on: loop, capacity: 4)
        let pool = try ConnectionPool(on: loop) { loop.succeeded(near) }
        let scope = FutureScope(on: loop)
        scope.add(pool)
        let written = pool.with { connection -> Future<Void> in
            connection.write("more than there is room for").ignoreFailure()
            return loop.succeeded()
        }
        settle(loop)
        #expect(written.succeeded && pool.idleCount == 1)
        pool.drain(within: .seconds(100))
        settle(loop)
        #expect(!near.closed.isCompleted && !scope.ended.isCompleted)
        scope.cancel()
        settle(loop)
        #expect(near.closed.isCompleted && scope.ended.ignoreFailure().isCompleted)
        far.abort()
        settle(loop)
    }
}
