import ArgumentParser
import Glibc
import UVFutures

@main
struct EchoServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends back whatever it is sent, until SIGINT or SIGTERM.")

    @Option(help: "The address to listen on: a numeric one, or localhost.")
    var host = "127.0.0.1"

    @Option(parsing: .unconditional, help: "The port to listen on; 0 picks a free one.")
    var port = 7007

    @Option(parsing: .unconditional, help: "How many connections may wait to be accepted.")
    var backlog = 1024

    @Option(parsing: .unconditional, help: "How many seconds open connections have to finish after a signal.")
    var grace = 5.0

    func validate() throws {
        guard (0...86_400).contains(grace) else {
            throw ValidationError("a grace of \(grace) seconds makes no sense; give 0 to 86400")
        }
    }

    func run() throws {
        let loop = EventLoop.main
        var (connections, bytes, failures) = (0, 0, 0)
        let server = try TCPServer.listen(host: host, port: port, backlog: backlog, on: loop) { connection in
            connections += 1
            return connection.forEachChunk { chunk in
                bytes += chunk.count
                return connection.write(chunk)
            }
        }
        server.onConnectionError = { _ in failures += 1 }

        let address = server.localAddress
        let reachable = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
        say("listening on \(address)")
        say("try it: printf 'hello\\n' | nc -N \(reachable) \(address.port)")

        let signal = Future.race([loop.signal(.interrupt), loop.signal(.terminate)])
        let summary = try loop.run(until: signal.flatMap { server.shutdown(grace: .seconds(grace)) })
        loop.shutdown()
        say("echoed \(bytes) bytes to \(connections) connections, of which \(failures) broke")
        say("after the signal \(summary.finished) connections finished, and \(summary.aborted) were aborted")
    }

    /// Whatever is wrong takes one line, without the usage.
    static func main() {
        do {
            try parse().run()
        } catch {
            exit(
                withError: exitCode(for: error).isSuccess ? error : Refusal(description: message(for: error)))
        }
    }
}

struct Refusal: Error, CustomStringConvertible {
    let description: String
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
