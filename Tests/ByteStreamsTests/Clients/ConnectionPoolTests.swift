import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct ConnectionPoolTests {
    @Test("a connection that was given back serves the next request, the last one first")
    func reuse() throws {
        try withPool { pool, server, loop in
            let answers = ["a", "b"].map { ask(pool, $0) }
            settle(loop)
            #expect(server.received == ["a", "b"] && pool.lentCount == 2)
            server.ends[0].write("1\n")
            settle(loop)
            server.ends[1].write("2\n")
            settle(loop)
            #expect(answers.map(\.now) == [Data("1"), Data("2")])
            #expect(pool.lentCount == 0 && pool.idleCount == 2)
            let third = ask(pool, "c")
            settle(loop)
            #expect(server.received == ["a", "bc"])
            server.ends[1].write("3\n")
            settle(loop)
            #expect(third.now == Data("3") && server.attempts.count == 2)
        }
    }

    @Test("the class of the connections is inferred from a closure with several statements")
    func inferred() throws {
        let loop = EventLoop.virtual()
        let server = PlayedServer(on: loop)
        var calls = 0
        let pool = try ConnectionPool(on: loop) {
            calls += 1
            return try server.connect().map { $0 }
        }
        let typed: ConnectionPool<MemoryStream> = pool
        _ = ask(typed, "a")
        settle(loop)
        #expect(calls == 1 && server.received == ["a"])
        server.endAll()
        loop.shutdown()
    }

    @Test("so many connections there are, and who waits is served in order, for its time, and in its number")
    func limits() throws {
        var limits = PoolLimits()
        (limits.maxConnections, limits.maxWaiting, limits.waitTimeout) = (1, 2, .seconds(5))
        try withPool(limits) { pool, server, loop in
            let first = ask(pool, "a")
            let (second, third) = (ask(pool, "b"), ask(pool, "c"))
            let fourth = ask(pool, "d")
            #expect(fourth.error as? PoolError == .tooManyWaiting(2) && pool.waitingCount == 2)
            #expect("\(fourth.error!)".hasPrefix("2 requests wait for a connection of the pool already"))
            settle(loop)
            second.cancel()
            #expect(second.wasCancelled && pool.waitingCount == 1)
            loop.advance(by: .seconds(4))
            server.ends[0].write("1\n")
            settle(loop)
            #expect(first.now == Data("1") && server.received == ["ac"])
            let late = ask(pool, "e")
            loop.advance(by: .milliseconds(4_999))
            #expect(!late.isCompleted)
            loop.advance(by: .milliseconds(1))
            #expect(late.error as? PoolError == .noneFree(after: .seconds(5)))
            #expect("\(late.error!)".hasPrefix("no connection of the pool was free within 5.0 seconds"))
            server.ends[0].write("3\n")
            settle(loop)
            #expect(third.now == Data("3") && server.attempts.count == 1)
        }
    }

    @Test(
        "a request that fails, throws or is cancelled takes its connection with it",
        arguments: ["fails", "throws", "cancelled"])
    func broken(how: String) throws {
        try withPool { pool, server, loop in
            let request = pool.with { connection -> Future<Void> in
                switch how {
                case "fails": return loop.failed(Broken())
                case "throws": throw Broken()
                default: return connection.readLine().map { _ in }
                }
            }
            settle(loop)
            if how == "cancelled" { request.cancel() }
            settle(loop)
            #expect(how == "cancelled" ? request.wasCancelled : request.error is Broken)
            #expect(pool.lentCount == 0 && pool.idleCount == 0 && server.ends[0].closed.isCompleted)
            let next = ask(pool, "a")
            settle(loop)
            #expect(server.received == ["", "a"])
            next.cancel()
        }
    }

    @Test(
        "an idle connection is thrown away when its peer ends it, or sends what nobody asked for",
        arguments: ["end", "reset", "bytes"])
    func idlePeer(what: String) throws {
        try withPool { pool, server, loop in
            let answer = ask(pool, "a")
            settle(loop)
            server.ends[0].write("1\n")
            settle(loop)
            #expect(answer.now == Data("1") && pool.idleCount == 1)
            switch what {
            case "end": server.ends[0].shutdownWrite()
            case "reset": server.ends[0].abort()
            default: server.ends[0].write("surprise\n")
            }
            settle(loop)
            #expect(pool.idleCount == 0)
            let next = ask(pool, "b")
            settle(loop)
            #expect(server.received[1] == "b")
            next.cancel()
        }
    }

    @Test("a connection on which more has come than was read is not lent again")
    func unread() throws {
        try withPool { pool, server, loop in
            let answer = ask(pool, "a")
            settle(loop)
            server.ends[0].write("1\n2\n")
            settle(loop)
            #expect(answer.now == Data("1") && pool.idleCount == 0)
            let lent = pool.acquire()
            settle(loop)
            let lease = try #require(lent.now)
            let line = lease.connection.readLine()
            server.ends[1].write("1\n2\n")
            settle(loop)
            #expect(line.now == Data("1"))
            lease.release()
            #expect(pool.idleCount == 0)
        }
    }

    @Test("a connection is closed when nobody has used it for its time")
    func idleTimeout() throws {
        try withPool { pool, server, loop in
            for _ in 0..<2 {
                let answer = ask(pool, "a")
                settle(loop)
                server.ends[0].write("1\n")
                settle(loop)
                #expect(answer.now == Data("1"))
                loop.advance(by: .milliseconds(59_999))
                #expect(pool.idleCount == 1)
            }
            loop.advance(by: .milliseconds(1))
            #expect(pool.idleCount == 0 && server.attempts.count == 1)
        }
    }

    @Test("a connect that fails fails its request, and one whose request is cancelled is given up")
    func connects() throws {
        try withPool { pool, server, loop in
            server.refusal = Broken()
            #expect(ask(pool, "a").error is Broken)
            #expect(pool.lentCount == 0)
            server.refusal = nil
            server.isSilent = true
            let request = ask(pool, "a")
            request.cancel()
            #expect(server.cancelledConnects == 1)
            // It comes in the same turn in which the request is cancelled.
            let second = ask(pool, "b")
            server.silent[1].succeed(try server.makePair())
            second.cancel()
            settle(loop)
            #expect(server.ends[0].closed.isCompleted && pool.lentCount == 0)
        }
    }

    @Test("draining serves those that wait, and refuses others")
    func drain() throws {
        var limits = PoolLimits()
        limits.maxConnections = 1
        try withPool(limits) { pool, server, loop in
            let (first, second) = (ask(pool, "a"), ask(pool, "b"))
            settle(loop)
            let drained = pool.drain(within: .seconds(100))
            #expect(ask(pool, "c").error as? FutureError == .closed("pool"))
            #expect(
                pool.drain(within: .seconds(-1)).complaint?.hasPrefix("drain(within:) was given -1") == true)
            server.ends[0].write("1\n")
            settle(loop)
            #expect(
                server.received == ["a", "b"], "it is not lent again, since it is closed as it comes back")
            #expect(!drained.isCompleted)
            server.ends[1].write("2\n")
            settle(loop)
            #expect(first.now == Data("1") && second.now == Data("2") && drained.now == 0)
        }
    }

    @Test("draining has an end, at which what is lent is aborted and what waits is refused")
    func drainDeadline() throws {
        var limits = PoolLimits()
        limits.maxConnections = 1
        try withPool(limits) { pool, server, loop in
            let (first, second) = (ask(pool, "a"), ask(pool, "b"))
            settle(loop)
            let drained = pool.drain(within: .seconds(5))
            loop.advance(by: .milliseconds(4_999))
            #expect(!first.isCompleted)
            loop.advance(by: .milliseconds(1))
            settle(loop)
            #expect(first.streamError == .connectionClosed)
            #expect(second.error as? FutureError == .closed("pool"))
            #expect(drained.now == 2)
        }
        try withPool(isSilent: true) { pool, server, loop in
            let request = ask(pool, "a")
            let drained = pool.drain(within: .seconds(1))
            loop.advance(by: .seconds(1))
            settle(loop)
            #expect(drained.now == 1)
            #expect(request.error as? FutureError == .closed("pool") && server.cancelledConnects == 1)
        }
    }

    @Test("a pool that is released closes what is idle")
    func released() throws {
        let loop = EventLoop.virtual()
        let server = PlayedServer(on: loop)
        var pool: ConnectionPool<MemoryStream>? = try ConnectionPool(on: loop, connect: server.connect)
        let answer = ask(pool!, "a")
        settle(loop)
        server.ends[0].write("1\n")
        settle(loop)
        #expect(answer.now == Data("1"))
        pool = nil
        loop.advance(by: .seconds(10))
        #expect(server.ends[0].closed.isCompleted || server.ends[0].read().isCompleted)
        server.endAll()
        settle(loop)
    }

    @Test("without a limit of time, a request waits until a connection is free")
    func unlimitedWait() throws {
        var limits = PoolLimits()
        (limits.maxConnections, limits.waitTimeout) = (1, nil)
        try withPool(limits) { pool, server, loop in
            let (first, second) = (ask(pool, "a"), ask(pool, "b"))
            loop.advance(by: .seconds(86_400))
            #expect(!second.isCompleted && pool.waitingCount == 1)
            server.ends[0].write("1\n")
            settle(loop)
            #expect(first.now == Data("1") && server.received == ["ab"])
            server.ends[0].write("2\n")
            settle(loop)
            #expect(second.now == Data("2"))
        }
    }

    @Test(
        "a connection that ends while it is idle is not lent, even before the pool has heard of its end",
        arguments: [false, true])
    func endsIdle(withinCallback: Bool) throws {
        try withPool { pool, server, loop in
            let lent = pool.acquire()
            settle(loop)
            var idle = lent.now?.connection
            lent.now?.release()
            #expect(pool.idleCount == 1)
            var next: Future<PoolLease<MemoryStream>>?
            func use() {
                idle?.abort()
                next = pool.acquire()
            }
            if withinCallback { loop.later { use() } } else { use() }
            settle(loop)
            #expect(next?.now?.connection.isOpen == true && next?.now?.connection !== idle)
            #expect(server.attempts.count == 2 && pool.idleCount == 0 && pool.lentCount == 1)
            next?.now?.release()
            (idle, next) = (nil, nil)
        }
    }

    @Test("the second deadline of a drain changes nothing that the first one has given up")
    func twoDeadlines() throws {
        try withPool { pool, server, loop in
            let lent = pool.acquire()
            settle(loop)
            server.isSilent = true
            let request = ask(pool, "a")
            let drained = pool.drain(within: .seconds(2))
            pool.drain(within: .seconds(1))
            loop.advance(by: .seconds(1))
            #expect(request.error as? FutureError == .closed("pool") && server.cancelledConnects == 1)
            loop.advance(by: .seconds(1))
            #expect(!drained.isCompleted && lent.now?.connection.isOpen == false)
            lent.now?.discard()
            settle(loop)
            #expect(drained.now == 2)
        }
    }
}
