import CFuturesSystem
import CLibUV
import Foundation
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import Futures
@testable import SystemIO
@testable import UVFutures

/// What the system keeps of a loop that a program lets go of without `shutdown()`.
struct DroppedLoopTests {
    @Test("fifty loops with a server, a connection and a timer each leave no descriptor and no port open")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            let before = openDescriptors()
            var ports: [Int] = []
            for _ in 0..<50 { ports.append(try useAndDropLoop()) }
            #expect(openDescriptors().isSubset(of: before))
            try withLoop { loop in
                let refused = ports.count {
                    let connection = TCPConnection.connect(host: "127.0.0.1", port: $0, on: loop)
                    return (loop.failure(of: connection) as? SystemError)?.code == .connectionRefused
                }
                // Other processes may have got one of the ports by now.
                #expect(refused >= 48)
            }
        }
    }

    @Test("all that the system gave a loop is given back when a program lets go of that")
    func eachKind() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            for (opened, network) in Opened.everywhere {
                let name: Comment = "\(opened), \(network)"
                // What is watched is not the loop's.
                var pipe: [CInt] = [0, 0]
                #expect(unsafe Glibc.pipe(&pipe) == 0)
                let before = openDescriptors()
                weak var core: LoopCore?
                var failures = 0
                do {
                    let loop = try DroppedLoopTests.makeLoop(network)
                    core = loop.core
                    let end = try opened.open(on: loop, watching: pipe[0])
                    end.whenFailure { [writing = pipe[1]] _ in
                        failures += 1
                        // A job of the pool runs until here: the end of the loop finds it at work.
                        #expect(unsafe write(writing, "x", 1) == 1)
                    }
                    // What handles do first they do in a turn.
                    try loop.run(until: loop.sleep(for: .milliseconds(1)))
                }
                #expect(failures == 1, name)
                // A thread that looks a name up may have an answer for the loop, or a file open, for a moment longer.
                #expect(eventually { core == nil }, name)
                #expect(eventually { openDescriptors().isSubset(of: before) }, name)
            }
        }
    }

    @Test("all that the system gave a loop is given back at its shutdown, though the program keeps the loop")
    func keptLoop() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            for (opened, network) in Opened.everywhere {
                var pipe: [CInt] = [0, 0]
                #expect(unsafe Glibc.pipe(&pipe) == 0)
                let before = openDescriptors()
                let loop = try DroppedLoopTests.makeLoop(network)
                let end = try opened.open(on: loop, watching: pipe[0])
                end.whenFailure { [writing = pipe[1]] _ in #expect(unsafe write(writing, "x", 1) == 1) }
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
                loop.shutdown()
                #expect(eventually { openDescriptors().isSubset(of: before) }, "\(opened), \(network)")
                withExtendedLifetime(loop) {}
            }
        }
    }

    @Test("an attached loop that is detached gives back its descriptors, though the program keeps it")
    func keptAttachedLoop() async {
        await #expect(processExitsWith: .success) {
            let host = HostLoop()
            // libuv opens two descriptors with the first handle of a loop, and keeps them.
            let other = try host.attach()
            let others = try other.makePipe()
            try host.run(until: other.sleep(for: .milliseconds(1)))
            let before = openDescriptors()
            let loop = try host.attach()
            let (reading, writing) = try loop.makePipe()
            let end = reading.forEachChunk { _ in }
            writing.write("x")
            try host.run(until: loop.sleep(for: .milliseconds(1)))
            let detached = loop.detach()
            try host.run(until: detached)
            #expect(throws: FutureError.shutDown) { try end.result?.get() }
            #expect(openDescriptors().isSubset(of: before))
            withExtendedLifetime((loop, writing, others)) {}
            try host.run(until: other.detach())
            #expect(host.close() == 0)
        }
    }

    private static func makeLoop(_ network: TestNetwork) throws -> EventLoop {
        let loop = try network.makeLoop()
        return loop
    }

    /// What keeps something of the system's open.
    enum Opened: String, CaseIterable, Codable {
        case listener, unixListener, connecting, watch, signal, body, resolving, stream, awaitingServer,
            resolver
        case unixAwaitingServer, pipe, signals, drainAtSignal, poolJob

        /// Each on each system. A simulated one has no descriptors, and its pool is the loop's thread.
        static let everywhere = TestNetwork.allCases.flatMap { network in
            allCases.filter { network == .system || ![.watch, .pipe, .poolJob].contains($0) }
                .map { ($0, network) }
        }

        /// Returns what fails when the loop ends.
        func open(on loop: EventLoop, watching descriptor: CInt) throws -> Future<Void> {
            switch self {
            case .listener:
                return try TCPListener(host: "127.0.0.1", port: 0, on: loop).accept().map { _ in }
            case .unixListener:
                let path = "/tmp/dropped-\(getpid())-\(UInt32.random(in: 0...(.max)))"
                return try UnixListener(path: path, on: loop).accept().map { _ in }
            case .connecting:
                let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
                let address = listener.localAddress
                return TCPConnection.connect(host: address.host, port: address.port, on: loop)
                    .flatMap { $0.forEachChunk { _ in } }
            case .watch:
                return try loop.watch(descriptor: descriptor).next(.readable).map { _ in }
            case .signal:
                return loop.signal(.user2).map { _ in }
            case .body:
                return Future(on: loop) { [core = loop.core] in
                    let listener = try TCPListener(host: "127.0.0.1", port: 0, on: core)
                    _ = try await listener.accept().value
                }
            case .resolving:
                return SystemResolver.shared.resolve("localhost", port: 1, on: loop)
                    .flatMap { [core = loop.core] _ in core.never(of: Void.self) }
            case .awaitingServer:
                _ = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    for try await _ in connection.chunks {}
                }
                return loop.core.never(of: Void.self)
            case .unixAwaitingServer:
                let path = "/tmp/dropped-\(getpid())-\(UInt32.random(in: 0...(.max)))"
                _ = try UnixServer.listen(path: path, on: loop) { connection in
                    for try await _ in connection.chunks {}
                }
                return loop.core.never(of: Void.self)
            case .pipe:
                let (reading, writing) = try loop.makePipe()
                return reading.forEachChunk { _ in _ = writing.write("x") }
            case .signals:
                let iterator = loop.signals(.user1, .user2).makeAsyncIterator()
                return iterator.pull().always { withExtendedLifetime(iterator) {} }.map { _ in }
            case .drainAtSignal:
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
                return server.drain(on: .terminate, within: .seconds(1)).map { _ in }
            case .poolJob:
                return RemoteContext.pool.execute(on: loop) {
                    var byte: UInt8 = 0
                    #expect(unsafe read(descriptor, &byte, 1) == 1)
                }
            case .resolver:
                loop.resolver = KeepingResolver()
                return loop.addresses(of: "example.test", port: 1).map { _ in }
            case .stream:
                let (first, second) = try loop.connectedPair()
                second.write(Data([1]))
                return first.forEachChunk { [core = loop.core] _ in core.never(of: Void.self) }
            }
        }
    }

    @Test("a group that is to drain at a signal does not keep the loop that waits for it")
    func groupAtSignal() throws {
        try withLoop { other in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1, echo)
            weak var core: LoopCore?
            var failures = 0
            do {
                let loop = try EventLoop()
                core = loop.core
                group.drain(on: .user2, within: .seconds(1), for: loop).whenFailure { _ in failures += 1 }
            }
            #expect(failures == 1)
            #expect(core == nil)
            try other.run(until: group.shutdown(within: .zero, on: other).map { _ in })
        }
    }

    @Test("an attached loop that a program lets go of stays as it is: the host decides")
    func attached() throws {
        let host = HostLoop()
        var seen = 0
        var loop = Optional(try host.attach())
        let handle = loop!.core
        loop!.sleep(for: .milliseconds(1)).whenSuccess { seen += 1 }
        loop = nil
        host.run()
        #expect(seen == 1)
        try host.run(until: handle.detach())
        #expect(host.close() == 0)
    }
}

/// A program's part that forgets `shutdown()`. Returns the port on which it has listened.
private func useAndDropLoop() throws -> Int {
    let loop = try EventLoop()
    // Of the client, that it is dropped unclosed.
    loop.onUnhandledFailure = { _ in }
    let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo)
    let client = try loop.connect(to: server.localAddress)
    client.write(Data([1]))
    #expect(try loop.run(until: client.read()) == Data([1]))
    loop.sleep(for: .seconds(1000)).whenFailure { #expect($0 as? FutureError == .shutDown) }
    return server.localAddress.port
}

/// Keeps the loop that it is given, and never answers.
private final class KeepingResolver: NameResolver {
    private var loop: EventLoop?

    func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        self.loop = loop
        return loop.never()
    }
}
