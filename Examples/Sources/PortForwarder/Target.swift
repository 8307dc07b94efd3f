import ArgumentParser
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
        guard let colon = argument.lastIndex(of: ":"),
            let port = Int(argument[argument.index(after: colon)...])
        else { return nil }
        let host = argument[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        self = .tcp(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
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
