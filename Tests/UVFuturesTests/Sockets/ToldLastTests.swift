import ByteStreams
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// An end is told last: whatever it has ended has been told before its own future completes, through chains of futures and
/// through bodies.
struct ToldLastTests {
    /// What ends: the futures that it fails, and the call that ends it, whose future comes last.
    struct End: CustomTestStringConvertible, Sendable {
        typealias Begin = @Sendable (EventLoop) throws -> (futures: [Future<Void>], end: () -> Future<Void>)
        let testDescription: String
        let networks: [TestNetwork]
        let begin: Begin

        init(
            _ name: String, on networks: [TestNetwork] = TestNetwork.allCases, _ begin: @escaping Begin
        ) {
            (testDescription, self.networks, self.begin) = (name, networks, begin)
        }
    }

    private static let ends = (clients + coordination + streams + sockets + watches + files + processes)
        .flatMap { end in end.networks.map { ($0, end) } }

    /// The near end of a connection whose far end says nothing. `peers` holds that.
    private static func silence(on loop: EventLoop, _ peers: inout [MemoryStream]) throws -> MemoryStream {
        let (near, far) = try MemoryStream.pair(on: loop)
        peers.append(far)
        return near
    }

    private static func client(on loop: EventLoop, isConnected: Bool = false) throws -> PipelinedClient<Data>
    {
        var limits = PipelineLimits()
        limits.maxUnderWay = 1
        var peers: [MemoryStream] = []
        let client = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint8), limits: limits, on: loop) {
            isConnected ? loop.succeeded(try silence(on: loop, &peers)) : loop.never()
        }
        if isConnected { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
        return client
    }

    private static let clients = [
        End("close of a client that waits for a connection") { loop in
            let client = try client(on: loop)
            return ((0..<3).map { _ in client.send(Data([1, 2])).asVoid() }, { client.close() })
        },
        End("drain of a client that waits for a connection") { loop in
            let client = try client(on: loop)
            return (
                (0..<3).map { _ in client.send(Data([1, 2])).asVoid() },
                { client.drain(within: .zero).asVoid() }
            )
        },
        End("close of a client with requests under way") { loop in
            let client = try client(on: loop, isConnected: true)
            return ((0..<3).map { _ in client.send(Data([1, 2])).asVoid() }, { client.close() })
        },
        End("drain of a client whose requests wait by thousands") { loop in
            let client = try client(on: loop)
            return (
                (0..<5_000 / slowShare).map { _ in client.send(Data([1, 2])).asVoid() },
                { client.drain(within: .zero).asVoid() }
            )
        },
        End("drain of a pool") { loop in
            var limits = PoolLimits()
            limits.maxConnections = 1
            var peers: [MemoryStream] = []
            let pool = try ConnectionPool(limits: limits, on: loop) {
                loop.succeeded(try silence(on: loop, &peers))
            }
            return (
                (0..<3).map { _ in pool.with { $0.read().asVoid() } }, { pool.drain(within: .zero).asVoid() }
            )
        },
    ]

    private static let coordination = [
        End("a queue that is aborted") { loop in
            let queue = FutureQueue(on: loop)
            let futures = (0..<3).map { _ in queue.enqueue { loop.never(of: Void.self) } }
            return (
                futures,
                {
                    queue.abort(with: FutureError.aborted)
                    return queue.whenEmpty()
                }
            )
        },
        End("a queue whose last operation fails") { loop in
            let (queue, promise) = (FutureQueue(on: loop), loop.makePromise(of: Void.self))
            let future = queue.enqueue { promise.future }
            return (
                [future],
                {
                    promise.fail(FutureError.aborted)
                    return queue.whenEmpty()
                }
            )
        },
        End("a gate whose last operation fails") { loop in
            let (gate, promise) = (FutureGate(on: loop), loop.makePromise(of: Void.self))
            let future = gate.with { promise.future }
            return (
                [future],
                {
                    promise.fail(FutureError.aborted)
                    return gate.close()
                }
            )
        },
    ]

    @Test("an end completes when all that it has ended has been told", arguments: ends)
    func toldLast(network: TestNetwork, row: End) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            let told = Counter()
            let (futures, end) = try row.begin(loop)
            for future in futures { future.tell(told) }
            // The bodies wait.
            try loop.run(until: loop.submit {})
            var toldAtEnd: Int?
            let ended = end()
            ended.whenComplete { _ in toldAtEnd = told.value }
            _ = loop.outcome(of: ended)
            #expect(toldAtEnd == 3 * futures.count)
        }
    }

    @Test(
        "a shutdown of the loop returns when all that it has ended has been told",
        arguments: TestNetwork.allCases)
    func shutdown(network: TestNetwork) throws {
        let loop = try network.makeLoop()
        var told = 0
        for _ in 0..<3 {
            let future: Future<Void> = loop.never()
            future.always {}.tap {}.always {}.whenFailure { _ in told += 1 }
            loop.makePromise(of: Int.self).future.always {}.whenFailure { _ in told += 1 }
        }
        loop.shutdown()
        #expect(told == 6)
    }

    @Test("callbacks without an end do not keep an end from completing", arguments: TestNetwork.allCases)
    func endless(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var isOver = false
            func go() -> Future<Void> { loop.submit {}.flatMap { isOver ? loop.succeeded() : go() } }
            loop.turnBudget = 16
            let endless = go()
            let client = try Self.client(on: loop)
            try loop.run(until: client.close())
            isOver = true
            try loop.run(until: endless)
        }
    }
}

extension Future {
    /// Adds 3 to `count` when the outcome is there: at once, at the end of a chain, and in a body.
    func tell(_ count: Counter) {
        whenComplete { _ in count.add(1) }
        var chain = always {}
        for _ in 0..<20 / slowShare { chain = chain.tap { _ in }.tapError { _ in }.map { $0 }.always {} }
        chain.whenComplete { _ in count.add(1) }
        Future<Void>(on: loop) {
            _ = try? await value
            try await loop.submit {}.value
            count.add(1)
        }
        .ignoreFailure()
    }
}
