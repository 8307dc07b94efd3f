// Our echo server as asynchronous code writes it, by what that is isolated to.
//
// Usage: AsyncEcho main|nothing|actor|task [--lines]

import Foundation
import UVFutures

let loop = EventLoop.main
let arguments = Array(CommandLine.arguments.dropFirst())
let isByLines = arguments.contains("--lines")
let address: SocketAddress
let echo = Echo(on: loop)
// The closures are isolated to the main actor, as all at the top level of a program.
switch arguments.first {
case "main" where isByLines:
    address = try TCPServer.listen(
        host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop
    ) { connection in
        for try await line in connection.lines(limit: lineLimit) {
            try await connection.write(line + lineEnd).value
        }
    }.localAddress
case "main":
    address = try TCPServer.listen(
        host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 4096), on: loop
    ) { connection in
        for try await chunk in connection.chunks { try await connection.write(chunk).value }
    }.localAddress
case "nothing": address = try serveOnNothing(on: loop, byLines: isByLines).localAddress
case "actor": address = try echo.assumeIsolated { try $0.listen(byTasks: false, byLines: isByLines) }
case "task": address = try echo.assumeIsolated { try $0.listen(byTasks: true, byLines: isByLines) }
default: fatalError("usage: AsyncEcho main|nothing|actor|task [--lines]")
}
print("listening on \(address)")
fflush(nil)
try loop.run()
