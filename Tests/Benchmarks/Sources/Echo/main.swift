// Our echo server, by each of the ways to read.
//
// Usage: Echo [--read data|chunks|spans|sequence]

import Glibc
import UVFutures

func usage() -> Never {
    let readings = Reading.allCases.map(\.rawValue).joined(separator: "|")
    let line = Array("usage: Echo [--read \(readings)]\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(2)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.isEmpty || arguments.count == 2 && arguments.first == "--read" else { usage() }
guard let reading = Reading(rawValue: arguments.last ?? "data") else { usage() }

let loop = EventLoop.main
let server = try TCPServer.listen(
    host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop, reading.echo)
print("listening on \(server.localAddress)")
fflush(nil)
try loop.run()
