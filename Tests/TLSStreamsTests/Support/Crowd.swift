import Foundation
import Glibc
import TLSStreams

/// What those do who take up places of a server of TLS, and never become its clients.
enum Idler: String, CaseIterable, Codable {
    case silent, dripping, halfGreeting, emptyRecords, garbage

    /// Connects to the loop's own server, and goes on until the connection ends.
    func connect(
        to port: Int, behind opening: Data = Data(), greeting: Data, on loop: EventLoop
    ) -> Future<TCPConnection> {
        TCPConnection.connect(host: "127.0.0.1", port: port, on: loop).tap { connection in
            switch self {
            case .silent: break
            case .dripping: drip(opening + greeting, connection)
            case .halfGreeting: connection.write(opening + greeting.prefix(greeting.count / 2))
            case .emptyRecords: connection.write(opening + Data([22, 3, 1, 0, 0]))
            case .garbage: connection.write(opening + Data("?".utf8))
            }
        }
    }

    private func drip(_ bytes: Data, _ connection: TCPConnection) {
        connection.write(bytes.prefix(1)).ignoreFailure()
        let pause = connection.loop.sleep(for: .milliseconds(100))
        pause.whenSuccess { if bytes.count > 2 { drip(bytes.dropFirst(), connection) } }
        connection.closed.whenComplete { _ in pause.cancel() }
    }
}

/// Silent and dripping peers on a thread of their own, which come again when the server has ended them.
final class Crowd: @unchecked Sendable {
    private let port: Int
    private let greeting: Data
    private let leaving = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Begins with so many of each kind.
    init(of each: Int, at port: Int, greeting: Data) {
        self.port = port
        self.greeting = greeting
        Thread.detachNewThread { self.run(each) }
    }

    func leave() {
        leaving.signal()
        ended.wait()
    }

    private func run(_ each: Int) {
        var peers: [(socket: CInt, sent: Int?)] = (0..<2 * each).map { (-1, $0 < each ? nil : 0) }
        repeat {
            for index in peers.indices { goOn(&peers[index]) }
        } while leaving.wait(timeout: .now() + .milliseconds(500)) == .timedOut
        for peer in peers where peer.socket >= 0 { close(peer.socket) }
        ended.signal()
    }

    private func goOn(_ peer: inout (socket: CInt, sent: Int?)) {
        var byte: UInt8 = 0
        if peer.socket >= 0, unsafe recv(peer.socket, &byte, 1, CInt(MSG_DONTWAIT)) >= 0 || errno != EAGAIN {
            close(peer.socket)
            peer.socket = -1
        }
        if peer.socket < 0 {
            peer.socket = connect()
            if peer.sent != nil { peer.sent = 0 }
        }
        guard peer.socket >= 0, let sent = peer.sent, sent < greeting.count - 1 else { return }
        byte = greeting[sent]
        unsafe send(peer.socket, &byte, 1, CInt(MSG_NOSIGNAL))
        peer.sent = sent + 1
    }

    private func connect() -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, size)
            }
        }
        if status == 0 { return descriptor }
        if descriptor >= 0 { close(descriptor) }
        return -1
    }
}
