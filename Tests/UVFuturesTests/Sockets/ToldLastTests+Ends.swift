import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

/// What else ends, and is told last.
extension ToldLastTests {
    static let streams = [
        End("close of a stream") { loop in
            let (near, far) = try MemoryStream.pair(on: loop)
            return (
                [near.read().asVoid()],
                { withExtendedLifetime(far) { near.close(within: .milliseconds(1)) } }
            )
        },
        End("abort of a stream") { loop in
            let (near, far) = try MemoryStream.pair(on: loop)
            return (
                [near.read().asVoid(), near.write(Data(count: 1_000_000))],
                { withExtendedLifetime(far) { near.abort() } }
            )
        },
        End("close of a TCP connection") { loop in
            let (near, far) = try loop.connectedPair()
            return ([near.read().asVoid()], { withExtendedLifetime(far) { near.close(within: .zero) } })
        },
        End("abort of a TCP connection") { loop in
            let (near, far) = try loop.connectedPair()
            return (
                [near.read().asVoid(), near.write(Data(count: 50_000_000))],
                { withExtendedLifetime(far) { near.abort() } }
            )
        },
        End("the peer's reset of a TCP connection") { loop in
            let (near, far) = try loop.connectedPair()
            return (
                [near.read().asVoid()],
                {
                    far.abort()
                    return near.closed
                }
            )
        },
    ]

    static let sockets = [
        End("close of a listener") { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            return ((0..<2).map { _ in listener.accept().asVoid() }, { listener.close() })
        },
        End("close of a socket for datagrams") { loop in
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            return ((0..<2).map { _ in socket.receive().asVoid() }, { socket.close() })
        },
        End("close of a socket for datagrams that is released") { loop in
            var socket: UDPSocket? = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let futures = (0..<2).map { _ in socket!.receive().asVoid() }
            return (
                futures,
                {
                    defer { socket = nil }
                    return socket!.close()
                }
            )
        },
        End("shutdown of a server") { loop in
            try served(on: loop) { $0.shutdown(within: .zero).asVoid() }
        },
        End("drain of a server") { loop in try served(on: loop) { $0.drain(within: .zero).asVoid() } },
    ]

    /// What the handler of a server waits for.
    private static func served(
        on loop: EventLoop, _ end: @escaping (TCPServer) -> Future<Void>
    ) throws -> (futures: [Future<Void>], end: () -> Future<Void>) {
        var futures: [Future<Void>] = []
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
            futures.append(connection.read().asVoid())
            return futures[0]
        }
        server.onConnectionError = { _ in }
        let client = try loop.connect(to: server.localAddress)
        try loop.runUntil { !futures.isEmpty }
        return (futures, { end(server).always { client.abort() } })
    }

    static let watches = [
        End("close of a watch of a descriptor", on: [.system]) { loop in
            let pipe = Pipe()
            let watch = try loop.watch(descriptor: pipe.fileHandleForReading.fileDescriptor)
            return ((0..<2).map { _ in watch.readable }, { watch.close().always { _ = pipe } })
        },
        End("close of a watch of a directory", on: [.system]) { loop in
            let directory = TemporaryDirectory()
            let watch = try loop.run(until: FileWatch.watch(directory: directory.path, on: loop))
            return ((0..<2).map { _ in watch.next().asVoid() }, { watch.close().always { _ = directory } })
        },
        End("the end of a watched directory", on: [.system]) { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("watched")
            let watch = try loop.run(until: FileWatch.watch(directory: directory.url("watched"), on: loop))
            return (
                (0..<2).map { _ in watch.changes.makeAsyncIterator().pull().asVoid() },
                {
                    directory.remove("watched")
                    return watch.closed.always { _ = directory }
                }
            )
        },
    ]

    static let files = [
        End("close of a file with reads under way", on: [.system]) { loop in
            let (temporary, directory) = try openDirectory(on: loop)
            let file = try loop.run(until: directory.open("file"))
            return (
                (0..<100).map { _ in file.readAll().asVoid() },
                {
                    directory.close()
                    return file.close().always { _ = temporary }
                }
            )
        },
        End("close of a directory with reads under way", on: [.system]) { loop in
            let (temporary, directory) = try openDirectory(on: loop)
            return (
                (0..<100).map { _ in directory.contents(of: "file").asVoid() },
                { directory.close().always { _ = temporary } }
            )
        },
    ]

    private static func openDirectory(on loop: EventLoop) throws -> (TemporaryDirectory, Directory) {
        let temporary = TemporaryDirectory()
        temporary.write("file")
        return (temporary, try loop.run(until: Directory.open(temporary.path, on: loop)))
    }

    static let processes = TestNetwork.allCases.flatMap { network in
        [
            End("the end of a child", on: [network]) { loop in
                let child = try ChildProcess.start(sleep(network, loop), on: loop)
                return ([child.exit.asVoid(), child.exit.asVoid()], { child.end(within: .zero).asVoid() })
            },
            End("a second end of a child", on: [network]) { loop in
                let child = try ChildProcess.start(sleep(network, loop), on: loop)
                return (
                    [child.end(within: .zero).asVoid(), child.exit.asVoid()],
                    { child.end(within: .zero).asVoid() }
                )
            },
            End("the end of a supervisor", on: [network]) { loop in
                let supervisor = ProcessSupervisor(on: loop)
                let children = try (0..<2).map { try supervisor.add("\($0)", sleep(network, loop)) }
                return (children.map { $0.exit.asVoid() }, { supervisor.end(within: .zero) })
            },
            End("the removal of a supervised program", on: [network]) { loop in
                let supervisor = ProcessSupervisor(on: loop)
                let child = try supervisor.add("sleep", sleep(network, loop))
                return ([child.exit.asVoid()], { supervisor.remove("sleep", within: .zero) })
            },
        ]
    }

    private static func sleep(_ network: TestNetwork, _ loop: EventLoop) -> ChildProcess.Configuration {
        if network == .virtual { loop.simulatedPrograms["sleep"] = { _ in loop.never() } }
        return .init("sleep", "1000")
    }
}
