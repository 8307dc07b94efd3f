// Our echo server of datagrams, by each of the ways to receive.
//
// Usage: DatagramEcho [--read spans|futures|receive|sequence]

import Glibc
import UVFutures

/// The ways to receive that are compared.
enum Reading: String, CaseIterable {
    /// The bytes of each datagram, borrowed from the loop's memory.
    case spans
    /// The same, with a future for each datagram.
    case futures
    /// A loop of `receive()`s.
    case receive
    /// `for try await`.
    case sequence

    func echo(_ socket: UDPSocket) -> Future<Void> {
        switch self {
        case .spans:
            socket.forEachDatagram { bytes, header -> Void in socket.send(bytes, to: header.source) }
        case .futures:
            socket.forEachDatagram { bytes, header -> Future<Void> in
                socket.send(bytes, to: header.source)
            }
        case .receive: echoReceives(socket)
        case .sequence:
            Future(on: socket.loop) {
                for try await datagram in socket.datagrams {
                    socket.send(datagram.bytes, to: datagram.source)
                }
            }
        }
    }
}

func echoReceives(_ socket: UDPSocket) -> Future<Void> {
    socket.receive().flatMap { datagram in
        socket.send(datagram.bytes, to: datagram.source)
        return echoReceives(socket)
    }
}

func usage() -> Never {
    let readings = Reading.allCases.map(\.rawValue).joined(separator: "|")
    let line = Array("usage: DatagramEcho [--read \(readings)]\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(2)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.isEmpty || arguments.count == 2 && arguments.first == "--read" else { usage() }
guard let reading = Reading(rawValue: arguments.last ?? "spans") else { usage() }

let loop = EventLoop.main
let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
try socket.setReceiveBufferSize(2 * 1024 * 1024)
print("listening on \(socket.localAddress)")
fflush(nil)
try loop.run(until: reading.echo(socket))
