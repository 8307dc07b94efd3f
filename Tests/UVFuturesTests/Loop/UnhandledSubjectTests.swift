import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// The line about a failure that nobody hears of says what has failed, and, in a debug build, where that was made.
struct UnhandledSubjectTests {
    enum Way: String, CaseIterable {
        case promise, completed, map, flatMap, flatMapOfCompletion, flatTap, recover, mapFuture, submit,
            flatSubmit
        case schedule, timeout, retry, poll, repeated, traverse, group, body, typed, execute, remotePromise
        case inner, passedOn, forEachChunk, forEachSpan, read, readLine, readPending, pipePending,
            shutDownWrite

        var subject: String {
            switch self {
            case .promise, .completed, .typed: "a future"
            case .flatMapOfCompletion, .inner: "flatMap"
            case .passedOn: "map"
            case .schedule: "submit"
            case .repeated: "repeat"
            case .group: "a group"
            case .body: "a body"
            case .execute: "a job of another thread"
            case .remotePromise: "a remote promise"
            case .forEachChunk, .forEachSpan: "\(self) of TCPConnection"
            case .read, .readLine, .readPending: "a read of TCPConnection"
            case .pipePending: "pipe of TCPConnection"
            case .shutDownWrite: "a write of TCPConnection"
            default: rawValue
            }
        }
    }

    #if DEBUG
        @Test(
            "the line about a connection that was dropped without close names it",
            arguments: TestNetwork.allCases)
        func dropped(network: TestNetwork) async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                [network] in
                let loop = try network.makeLoop()
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                _ = try loop.connect(to: listener.localAddress)
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
                loop.shutdown()
            }
            let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(
                printed.firstMatch(
                    of:
                        /^Unhandled failure of TCPConnection .*127\.0\.0\.1.*: a connection was dropped without close\(\)/
                ) != nil,
                "\(printed)")
        }
    #endif

    @Test(
        "an unheard failure is printed with what has failed, and where that was made",
        .disabled(if: isSanitized, "Symbols take ten times as long, and nothing is found."))
    func lines() async {
        // One process for all: a place is looked up once, and the first one takes the longest.
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for network in TestNetwork.allCases {
                for way in Way.allCases {
                    let loop = try network.makeLoop()
                    try fail(way, on: loop)
                    try loop.run()
                }
            }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let reports = printed.split(separator: "here: ").map { $0.split(separator: "\n") }
        let ways = TestNetwork.allCases.flatMap { _ in Way.allCases }
        #expect(reports.count == ways.count, "\(printed)")
        for (way, report) in zip(ways, reports) {
            let unhandled = report.filter { $0.hasPrefix("Unhandled") }
            let line = unhandled.first ?? ""
            #expect(
                unhandled.count == 1 && line.hasPrefix("Unhandled failure of \(way.subject)"), "\(report)")
            #if DEBUG
                #expect(line.contains(" made at \(report[0]): "), "\(report)")
            #else
                #expect(!line.contains(" made at "), "\(report)")
            #endif
        }
    }

    @Test("what the library makes after a callback is made by none, least of all by who runs the loop")
    func madeByNobody() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let loop = EventLoop.virtual()
            var pair: (ByteStream, ByteStream)? = try MemoryStream.pair(on: loop)
            // The callback has the last reference, and goes when it has run.
            loop.submit { [stream = pair!.0] in _ = stream }.ignoreFailure()
            pair = nil
            loop.advance(by: .zero)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #if DEBUG
            #expect(
                printed.hasPrefix("Unhandled failure of a stream: a connection was dropped"), "\(printed)")
        #endif
    }

    @Test("a promise that is dropped is named once")
    func dropped() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            _ = loop.makePromise(of: Int.self)
            try loop.run()
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains("Unhandled failure of a future: the promise made at UVFuturesTests/"),
            "\(printed)")
    }
}

private struct Malformed: Error {}

private func fail(_ way: UnhandledSubjectTests.Way, on loop: EventLoop) throws {
    let done = loop.succeeded(1)
    func fails(_: Int) throws -> Int { throw Malformed() }
    switch way {
    case .promise:
        sayNextLine()
        let promise = loop.makePromise(of: Int.self)
        promise.fail(Malformed())
    case .completed:
        sayNextLine()
        _ = loop.failed(Malformed(), of: Int.self)
    case .map:
        sayNextLine()
        _ = done.map(fails)
    case .flatMap:
        sayNextLine()
        _ = done.flatMap { _ -> Future<Int> in throw Malformed() }
    case .inner:
        sayNextLine()
        _ = done.flatMap { _ in loop.sleep(for: .zero).map { 1 }.map(fails) }
    case .passedOn:
        let failing = done.map(fails)
        sayNextLine()
        _ = failing.map { $0 }
    case .flatMapOfCompletion:
        sayNextLine()
        _ = done.flatMap { _ in FutureCompletion<Int>.failure(Malformed()) }
    case .flatTap:
        sayNextLine()
        _ = done.flatTap { _ -> Future<Int> in throw Malformed() }
    case .recover:
        sayNextLine()
        _ = loop.failed(Malformed(), of: Int.self).recover { throw $0 }
    case .mapFuture:
        sayNextLine()
        _ = done.mapFuture { _ in throw Malformed() }
    case .submit:
        sayNextLine()
        _ = loop.submit { throw Malformed() }
    case .flatSubmit:
        sayNextLine()
        _ = loop.flatSubmit { () -> Future<Int> in throw Malformed() }
    case .schedule:
        sayNextLine()
        loop.schedule(after: .milliseconds(1)) { throw Malformed() }
    case .timeout:
        sayNextLine()
        _ = loop.never(of: Int.self).timeout(after: .zero)
    case .retry:
        sayNextLine()
        _ = loop.retry(attempts: 2, backoff: .constant(.zero)) { _ in done.map(fails) }
    case .poll:
        sayNextLine()
        _ = loop.poll(every: .milliseconds(1), until: { $0 == 2 }, { done.map(fails) })
    case .repeated:
        sayNextLine()
        loop.repeat(every: .milliseconds(1)) { throw Malformed() }
    case .traverse:
        sayNextLine()
        _ = loop.traverse([1]) { _ in done.map(fails) }
    case .group:
        sayNextLine()
        _ = Future.all([done, done.map(fails)])
    case .body:
        sayNextLine()
        _ = Future(on: loop) { throw Malformed() }
    case .typed:
        sayNextLine()
        let promise = loop.makePromise(of: Int.self, failingWith: Malformed.self)
        promise.fail(Malformed())
    case .execute:
        sayNextLine()
        _ = RemoteContext.default.execute(on: loop) { throw Malformed() }
    case .remotePromise:
        sayNextLine()
        let promise = loop.makeRemotePromise(of: Int.self)
        promise.fail(Malformed())
    case .forEachChunk, .forEachSpan, .read, .readLine, .readPending, .pipePending, .shutDownWrite:
        let (here, there) = try loop.connectedPair()
        if way == .readLine {
            here.write("xxx\n")
            _ = try loop.run(until: there.read(exactly: 1))
        }
        fail(way, using: there)
        if way != .readLine { try loop.run(until: here.write("xx\n")) }
        try loop.runUntil { there.bytesReceived >= 3 || way == .shutDownWrite }
        here.abort()
        there.abort()
    }
}

private func fail(_ way: UnhandledSubjectTests.Way, using connection: TCPConnection) {
    switch way {
    case .forEachChunk:
        sayNextLine()
        _ = connection.forEachChunk { _ in throw Malformed() }
    case .forEachSpan:
        sayNextLine()
        _ = connection.forEachSpan { _ in throw Malformed() }
    case .readPending:
        connection.read().ignoreFailure()
        sayNextLine()
        _ = connection.read()
    case .pipePending:
        connection.read().ignoreFailure()
        sayNextLine()
        _ = connection.pipe(to: connection)
    case .shutDownWrite:
        connection.shutdownWrite()
        sayNextLine()
        connection.write("late")
    default:
        sayNextLine()
        _ = connection.readLine(limit: 1)
    }
}
