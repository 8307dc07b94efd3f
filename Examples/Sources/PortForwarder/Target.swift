import ArgumentParser
import ExampleSupport
import TLSStreams

/// Another server.
enum Target: ExpressibleByArgument {
    case tcp(host: String, port: Int)
    case unix(path: String)

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            self = .unix(path: String(argument.dropFirst(5)))
            return
        }
        guard let address = HostAndPort(argument: argument) else { return nil }
        self = .tcp(host: address.host, port: address.port)
    }

    /// Throws if nobody can ever listen there.
    func check() throws {
        switch self {
        case .tcp(let host, let port): try TCPConnection.checkTarget(host: host, port: port)
        case .unix(let path): _ = try SocketAddress(path: path)
        }
    }

    func connect(on loop: EventLoop) -> Future<SocketConnection> {
        switch self {
        case .tcp(let host, let port):
            TCPConnection.connect(host: host, port: port, on: loop).map { $0 }
        case .unix(let path):
            UnixConnection.connect(path: path, on: loop).map { $0 }
        }
    }
}
