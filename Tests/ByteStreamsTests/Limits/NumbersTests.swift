import ByteStreams
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Each number is checked where it is given.
struct NumbersTests {
    private func with(_ body: (EventLoop) throws -> Void) rethrows {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { _ in }
        defer { loop.shutdown() }
        try body(loop)
    }

    @Test("counts and limits of what is read are not negative, and may be larger than memory")
    func reading() throws {
        try with { loop in
            let (a, b) = try MemoryStream.pair(on: loop)
            b.write("line\n")
            expectRefused("read(exactly:)", outside: 0...) { a.read(exactly: $0) }
            expectRefused("read(until:)", outside: 0...) { a.read(until: Data([0]), limit: $0) }
            expectRefused("readLine", outside: 0...) { a.readLine(limit: $0) }
            expectRefused("readToEnd", outside: 0...) { a.readToEnd(limit: $0) }
            expectRefused("lines", outside: 0...) {
                let first = a.lines(limit: $0).first()
                loop.advance(by: .zero)
                return first
            }
            expectRefused("close", outside: Duration.zero...) { b.close(within: $0) }
            expectRefused("capacity", outside: 1...) { try MemoryStream.pair(on: loop, capacity: $0) }
            let whole = a.read(exactly: .max)
            loop.advance(by: .seconds(1))
            #expect(whole.isCompleted)
        }
    }

    @Test("limits of streams are in their range")
    func streams() {
        with { loop in
            func pair(_ change: (inout StreamLimits) -> Void) throws {
                var limits = StreamLimits()
                change(&limits)
                let (a, b) = try MemoryStream.pair(on: loop, limits: limits)
                // Each limit begins to run.
                let reads = [a.readLine(limit: 10), b.read(exactly: 3)]
                b.write("some").ignoreFailure()
                loop.advance(by: .zero)
                for read in reads { read.ignoreFailure().cancel() }
                for stream in [a, b] { stream.close() }
            }
            expectRefused("readHighWaterMark", outside: 16_384...) { mark in
                try pair { $0.readHighWaterMark = mark }
            }
            expectRefused("readLowWaterMark", outside: 0...65_536) { mark in
                try pair { $0.readLowWaterMark = mark }
            }
            expectRefused("writeHighWaterMark", outside: 16_384...) { mark in
                try pair { $0.writeHighWaterMark = mark }
            }
            expectRefused("writeLowWaterMark", outside: 0...65_536) { mark in
                try pair { $0.writeLowWaterMark = mark }
            }
            expectRefused("writeCap", outside: 0...) { cap in try pair { $0.writeCap = cap } }
            expectRefused("closeDiscardLimit", outside: 0...) { limit in
                try pair { $0.closeDiscardLimit = limit }
            }
            expectRefused("maxLingering", outside: 0...) { count in try pair { $0.maxLingering = count } }
            expectRefused("framingRate", outside: 1...) { rate in try pair { $0.framingRate = rate } }
            expectRefused("closeTimeout", outside: Duration.zero...) { time in
                try pair { $0.closeTimeout = time }
            }
            for limit in [
                \StreamLimits.idleTimeout, \.readTimeout, \.framingTimeout, \.handshakeTimeout,
                \.writeTimeout, \.lifetime,
            ] {
                expectRefused("a time limit", outside: Duration.nanoseconds(1)...) { time in
                    try pair { $0[keyPath: limit] = time }
                }
            }
        }
    }

    @Test("limits of clients and of pools are in their range")
    func clients() throws {
        try with { loop in
            func client(
                _ backoff: Backoff = .exponential, _ change: (inout PipelineLimits) -> Void = { _ in }
            ) throws {
                var limits = PipelineLimits()
                change(&limits)
                let client = try PipelinedClient(
                    decodedBy: LengthPrefixDecoder(.uint8), limits: limits, backoff: backoff, on: loop
                ) { loop.never(of: MemoryStream.self) }
                client.send(Data([0])).ignoreFailure()
                loop.advance(by: .zero)
                client.close()
            }
            expectRefused("maxUnderWay", outside: 1...) { count in try client { $0.maxUnderWay = count } }
            expectRefused("maxAttempts", outside: 1...) { count in try client { $0.maxAttempts = count } }
            expectRefused("maxWaiting", outside: 0...) { count in try client { $0.maxWaiting = count } }
            expectRefused("maxWaitingBytes", outside: 0...) { count in
                try client { $0.maxWaitingBytes = count }
            }
            for limit in [\PipelineLimits.waitTimeout, \.answerTimeout, \.greetingTimeout] {
                expectRefused("a time limit", outside: Duration.nanoseconds(1)...) { time in
                    try client { $0[keyPath: limit] = time }
                }
            }
            expectRefused("jitter", outside: 0.0...1.0) {
                try client(.exponential(initial: .seconds(1), jitter: $0))
            }
            expectRefused("factor", outside: 1.0...Double.greatestFiniteMagnitude) {
                try client(.exponential(initial: .seconds(1), factor: $0))
            }
            expectRefused("delays", outside: Duration.zero...) { try client(.constant($0)) }
            func pool(_ change: (inout PoolLimits) -> Void) throws -> ConnectionPool<MemoryStream> {
                var limits = PoolLimits()
                change(&limits)
                let pool = try ConnectionPool(limits: limits, on: loop) { loop.never(of: MemoryStream.self) }
                for _ in 0..<2 { pool.acquire().ignoreFailure() }
                loop.advance(by: .zero)
                return pool
            }
            expectRefused("maxConnections", outside: 1...) { count in try pool { $0.maxConnections = count } }
            expectRefused("maxWaiting of a pool", outside: 0...) { count in try pool { $0.maxWaiting = count }
            }
            expectRefused("waitTimeout", outside: Duration.nanoseconds(1)...) { time in
                try pool { $0.waitTimeout = time }
            }
            expectRefused("idleTimeout", outside: Duration.nanoseconds(1)...) { time in
                try pool { $0.idleTimeout = time }
            }
            let ending = try pool { $0.maxConnections = .max }
            expectRefused("drain of a pool", outside: Duration.zero...) { ending.drain(within: $0) }
            let last = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint8), on: loop) {
                loop.never(of: MemoryStream.self)
            }
            expectRefused("drain of a client", outside: Duration.zero...) { last.drain(within: $0) }
        }
    }
}
