import ByteStreams
import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

/// What belongs to another loop is refused where it is given: a future, whether it has completed or not, a stream, a
/// file or a directory. The loops have one thread, so the check of the thread finds nothing.
struct ForeignLoopTests {
    /// What takes it: words of its line in `api.txt`, the sentence of the trap, and a call.
    private struct Taker: CustomTestStringConvertible, Sendable {
        typealias Give = @Sendable (_ loop: EventLoop, _ foreign: Future<Int>) throws -> Void
        let testDescription: String
        var sentence =
            "A future of another event loop was given where a future of this loop is needed."
        let give: Give

        init(_ line: String, _ give: @escaping Give) { (testDescription, self.give) = (line, give) }

        func saying(_ sentence: String) -> Taker {
            var taker = self
            taker.sentence = sentence
            return taker
        }
    }

    private static let takers = streams + clients + sockets

    private static let streams = [
        Taker("ByteStream: func forEachChunk<Ignored>") { l, f in
            let (near, far) = try MemoryStream.pair(on: l)
            _ = near.forEachChunk { _ in f }
            far.write("x")
        },
        Taker("ByteStream: func forEachSpan<Ignored>") { l, f in
            let (near, far) = try MemoryStream.pair(on: l)
            _ = near.forEachSpan { _ in f }
            far.write("x")
        },
        Taker("ByteStream: func forEachMessage<Decoder, Ignored>") { l, f in
            let (near, far) = try MemoryStream.pair(on: l)
            _ = near.forEachMessage(decodedBy: LengthPrefixDecoder(.uint8)) { _, _ in f }
            far.write(Data([1, 2]))
        },
        Taker("ByteStream: @discardableResult final func answering<Value>") { l, f in
            _ = try MemoryStream.pair(on: l).0.answering(f)
        },
        Taker("ByteStream: func pipe(to") { l, f in
            _ = try MemoryStream.pair(on: l).0.pipe(to: MemoryStream.pair(on: f.loop).0)
        }.saying("pipe(to:) was given a stream of another event loop. Make both streams on one loop."),
    ]

    private static let stream =
        "A client was given a connection of another event loop. Connect on the client's loop."

    private static let clients = [
        Taker("ConnectionPool: init") { l, f in
            _ = try ConnectionPool(on: l) { f.map { _ in try MemoryStream.pair(on: l).0 } }.acquire()
        },
        Taker("ConnectionPool: init") { l, f in
            _ = try ConnectionPool(on: l) { l.succeeded(try MemoryStream.pair(on: f.loop).0) }.acquire()
        }.saying(stream),
        Taker("ConnectionPool: func with") { l, f in
            _ = try ConnectionPool(on: l) { l.succeeded(try MemoryStream.pair(on: l).0) }.with { _ in f }
        },
        Taker("PipelinedClient: init") { l, f in
            _ = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint8), on: l) {
                f.map { _ in try MemoryStream.pair(on: l).0 }
            }
        },
        Taker("PipelinedClient: init") { l, f in
            _ = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint8), on: l) {
                l.succeeded(try MemoryStream.pair(on: f.loop).0)
            }
        }.saying(stream),
        Taker("PipelinedClient: init") { l, f in
            _ = try PipelinedClient(
                decodedBy: LengthPrefixDecoder(.uint8), on: l, greeting: { _ in f.asVoid() }
            ) { l.succeeded(try MemoryStream.pair(on: l).0) }
        },
    ]

    private static let sockets = [
        Taker("SocketServer: convenience init<Ignored>") { l, f in
            let server = TCPServer(on: l) { _ in f }
            let address = try server.listen(host: "127.0.0.1", port: 0)
            _ = TCPConnection.connect(host: "127.0.0.1", port: address.port, on: l)
        },
        Taker("DatagramSocket: final func forEachDatagram<Ignored>") { l, f in
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: l)
            _ = socket.forEachDatagram { _, _ in f }
            socket.send(Data([1]), to: socket.localAddress)
        },
        Taker("NameResolver: func resolve") { l, f in
            _ = l.addresses(of: "example.org", port: 80, resolver: Elsewhere(answer: f))
        },
        Taker("EventLoop: var simulatedPrograms") { l, f in
            l.simulatedPrograms["answer"] = { _ in f.map { Int32($0) } }
            _ = try ChildProcess.start(ChildProcess.Configuration("answer"), on: l)
        },
    ]

    @Test(
        "what belongs to another loop traps where it is given", arguments: takers.indices, [false, true])
    func refused(index: Int, hasCompleted: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [index, hasCompleted] in
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let promise = other.makePromise(of: Int.self)
            if hasCompleted { promise.succeed(1) }
            try Self.takers[index].give(loop, promise.future)
            loop.advance(by: .milliseconds(100))
            withExtendedLifetime(promise) {}
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let taker = Self.takers[index]
        #expect(printed.contains(taker.sentence), "\(taker.testDescription): \(printed)")
    }

    @Test("a file or directory of another loop traps where it is given", arguments: 0..<4)
    func files(call: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call] in
            let (loop, other) = (try EventLoop(), try EventLoop())
            let path = NSTemporaryDirectory()
            let here = try loop.run(until: Directory.open(path, on: loop))
            let there = try other.run(until: Directory.open(path, on: other))
            switch call {
            case 0: _ = here.rename("a", to: "b", in: there)
            case 1: _ = here.link("a", as: "b", in: there)
            case 2: _ = here.link(try other.run(until: there.makeTemporaryFile()), as: "b")
            default:
                let file = try loop.run(until: here.makeTemporaryFile())
                _ = file.copy(to: try MemoryStream.pair(on: .virtual()).0)
            }
        }
        let files = [
            "Directory: func rename", "Directory: func link(_ path", "Directory: func link(_ file",
            "File: func copy(to",
        ]
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains(" of another event loop"), "\(files[call])")
    }
}

/// Answers on the wrong loop.
private struct Elsewhere: NameResolver {
    let answer: Future<Int>

    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        answer.map { _ in [] }
    }
}
