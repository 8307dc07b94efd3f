// Our encrypted echo server and, on the same loop, a plain one.
//
// Usage: TLSEcho --read chunks|spans [--pool] CERTIFICATE KEY

import Glibc
import TLSStreams
import UVFutures

enum Reading: String {
    case chunks, spans

    func echo(_ connection: ByteStream) -> Future<Void> {
        switch self {
        case .chunks: connection.forEachChunk { chunk in connection.write(chunk) }
        case .spans: connection.forEachSpan { bytes in connection.write(bytes) }
        }
    }
}

func usage() -> Never {
    let line = Array("usage: TLSEcho --read chunks|spans [--pool] CERTIFICATE KEY\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(2)
}

func say(_ line: String) {
    print(line)
    fflush(nil)
}

var arguments = CommandLine.arguments
// Where the private key signs.
let signsOnPool = arguments.contains("--pool")
arguments.removeAll { $0 == "--pool" }
guard arguments.count == 5, arguments[1] == "--read" else { usage() }
guard let reading = Reading(rawValue: arguments[2]) else { usage() }

let loop = EventLoop.main
let identity = TLSIdentity(
    certificates: .path(arguments[3]), key: .path(arguments[4]), signingOn: signsOnPool ? .pool : nil)
let context = try TLSContext.server(TLSServerConfiguration(identity: identity), on: loop)
// A thousand clients that begin at once wait for their turn.
var handshakes = TLSHandshakeLimits()
handshakes.timeout = .seconds(60)
let plain = try TCPServer.listen(
    host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop, reading.echo)
let server = try TLSServer.listen(
    host: "127.0.0.1", port: 0, context: context, options: ListenOptions(backlog: 4096),
    handshakes: handshakes, reading.echo)
// Clients that are cut off on purpose are nothing to tell of.
server.onConnectionError = { _ in }
plain.onConnectionError = { _ in }
say("plain on \(plain.localAddress)")
say("listening on \(server.localAddress)")
try loop.run()
