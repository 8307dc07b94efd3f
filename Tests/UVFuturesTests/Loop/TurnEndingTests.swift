import Foundation
import TestSupport
import Testing

@testable import Futures
@testable import SystemIO
@testable import UVFutures

/// What is begun in the very turn in which the loop ends, and would be gone on with at the end of the turn or in a later one.
struct TurnEndingTests {
    enum Begun: String, CaseIterable, Codable {
        case gatheredWrite, gatheredWriteAwaited, request, nextTurn, whenIdle, timer, repetition, body

        /// Returns what completes at the end.
        func begin(on loop: EventLoop, _ stream: TCPConnection, _ other: TCPConnection) throws
            -> Future<Void>
        {
            switch self {
            case .gatheredWrite:
                stream.gathersWrites = true
                stream.write("a")
                return stream.closed
            case .gatheredWriteAwaited:
                stream.gathersWrites = true
                stream.write("a")
                return stream.write("")
            case .request:
                let client = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint8), on: loop) {
                    stream.core.succeeded(stream)
                }
                return client.send(Data([1, 42])).map { _ in }
            case .nextTurn: return loop.succeeded().map(on: .nextTurn) {}
            case .whenIdle: return loop.succeeded().map(on: .whenIdle) {}
            case .timer: return loop.sleep(for: .seconds(3600))
            case .repetition: return loop.repeat(every: .seconds(3600)) {}.future
            case .body: return Future(on: loop) { _ = try await other.read().value }
            }
        }
    }

    enum End: String, CaseIterable, Codable { case shutdown, release, detach }

    @Test(
        "nothing that was begun in the last turn keeps a loop that has ended", arguments: Begun.allCases,
        End.allCases)
    func lastTurn(begun: Begun, end: End) throws {
        for network in end == .detach ? [.system] : TestNetwork.allCases {
            weak var core: LoopCore?
            weak var stream: TCPConnection?
            var completions = 0
            do {
                let host = end == .detach ? HostLoop() : nil
                let loop = try host?.attach() ?? network.makeLoop()
                core = loop.core
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let pair = TCPConnection.connect(
                    host: "127.0.0.1", port: listener.localAddress.port, on: loop
                )
                .and(listener.accept())
                let (first, second) = try host?.run(until: pair) ?? loop.run(until: pair)
                stream = first
                try begun.begin(on: loop, first, second).whenComplete { _ in completions += 1 }
                if end == .shutdown { loop.shutdown() }
                try host?.run(until: loop.detach())
                #expect(host?.close() ?? 0 == 0)
            }
            #expect(eventually { core == nil && stream == nil }, "\(network)")
            #expect(completions == 1, "\(network)")
        }
    }

    @Test(
        "what a report writes to a stream that gathers leaves without another event",
        arguments: TestNetwork.allCases, [false, true])
    func report(network: TestNetwork, onHost: Bool) throws {
        guard network == .system || !onHost else { return }
        let host = onHost ? HostLoop() : nil
        let loop = try host?.attach() ?? network.makeLoop()
        func run<Value>(until future: Future<Value>) throws -> Value {
            try host?.run(until: future) ?? loop.run(until: future)
        }
        let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
        let (first, second) = try run(
            until: TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop)
                .and(listener.accept()))
        first.gathersWrites = true
        loop.onUnhandledFailure = { _ in first.write("report\n") }
        loop.later { _ = loop.failed(FutureError.shutDown, of: Int.self) }
        #expect(try run(until: second.readLine()) == Data("report".utf8))
        loop.onUnhandledFailure = nil
        for end in [first, second] { end.abort() }
        try run(until: listener.close())
        if let host {
            try host.run(until: loop.detach())
            #expect(host.close() == 0)
        } else {
            loop.shutdown()
        }
    }
}
