import CFuturesSystem
// Does something of the kind that it is told, then nothing for as many milliseconds as it is told. Says on descriptor 2
// when that begins and ends, and prints how many milliseconds of processor time it took.
import CLibUV
import Dispatch
import Glibc
import UVFutures

func say(_ word: String) { write(2, word + "\n", word.utf8.count + 1) }

@MainActor final class Idleness {
    private let start: Int
    init() {
        say("idle")
        start = clock()
    }

    func end() {
        let taken = (clock() - start) / 1000
        say("over")
        print(taken)
    }
}

@concurrent func elsewhere() async {}

@main struct Program {
    @MainActor static func main() throws {
        let duration = Duration.milliseconds(Int(CommandLine.arguments[2])!)
        let kind = CommandLine.arguments[1]
        if kind == "attached" { return try attached(duration) }
        let loop = kind == "another" ? try EventLoop() : EventLoop.main
        switch kind {
        // In a debug build the first future of a thread asks for the bounds of its stack.
        case "nothing": loop.succeeded().ignoreFailure()
        case "body", "another":
            let body = Future(on: loop) {
                try await loop.sleep(for: .milliseconds(1)).value
                await elsewhere()
            }
            try loop.run(until: body)
        case "task":
            let promise = loop.makePromise(of: Void.self)
            Task { @MainActor in
                await elsewhere()
                promise.succeed()
            }
            try loop.run(until: promise.future.timeout(after: .seconds(10)))
        case "dispatch":
            let promise = loop.makePromise(of: Void.self)
            DispatchQueue.main.async { MainActor.assumeIsolated { _ = promise.succeed() } }
            try loop.run(until: promise.future.timeout(after: .seconds(10)))
        case "server":
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                Future(on: loop) {
                    for try await line in connection.lines() {
                        await elsewhere()
                        try await connection.write(line + "\n".utf8).value
                    }
                }
            }
            let client = Future(on: loop) {
                let port = server.localAddress.port
                let connection = try await TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
                    .value
                try await connection.write("hello\n").value
                _ = try await connection.readLine().value
                try await connection.close().value
            }
            try loop.run(until: client)
            try loop.run(until: loop.sleep(for: .milliseconds(20)))
        case "runMain":
            return try EventLoop.runMain { loop in
                await elsewhere()
                let idleness = Idleness()
                try await loop.sleep(for: duration).value
                idleness.end()
            }
        default: fatalError("no kind of program: \(kind)")
        }
        let idleness = Idleness()
        try loop.run(until: loop.sleep(for: duration))
        idleness.end()
    }

    /// On a libuv loop of somebody else's.
    @MainActor static func attached(_ duration: Duration) throws {
        let host = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        uv_loop_init(host)
        let loop = try EventLoop(attachingTo: host, hostVersion: uv_version_string)
        Future(on: loop) {
            await elsewhere()
            try await loop.sleep(for: .milliseconds(1)).value
            let idleness = Idleness()
            try await loop.sleep(for: duration).value
            idleness.end()
            loop.detach().ignoreFailure()
        }
        .ignoreFailure()
        uv_run(host, UV_RUN_DEFAULT)
        uv_loop_close(host)
    }
}
