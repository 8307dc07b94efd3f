import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import UVFutures

/// Runs `body` with a loop of its own, shuts that down, and proves that nothing is left of it:
/// `uv_loop_close`, which traps otherwise, finds no handle, and a handle takes its descriptor with it.
func withLoop(
    ignoringUnhandled: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (EventLoop) throws -> Void
) throws {
    let loop = try EventLoop()
    let before = loop.statistics
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    defer {
        loop.shutdown()
        loop.onUnhandledFailure = nil
        var left = loop.statistics
        left.turns = before.turns
        #expect(left == before, sourceLocation: sourceLocation)
        if !ignoringUnhandled { #expect(unhandled.isEmpty, sourceLocation: sourceLocation) }
    }
    try body(loop)
}

extension EventLoop {
    /// The outcome of `future`, once it is there.
    func outcome<Value>(of future: Future<Value>) -> Result<Value, any Error> {
        Result { try run(until: future) }
    }

    /// The error that `future` fails with, once it does.
    func failure<Value>(of future: Future<Value>) -> (any Error)? {
        switch outcome(of: future) {
        case .success: nil
        case .failure(let error): error
        }
    }

    func connect(to address: SocketAddress) throws -> TCPConnection {
        try run(until: TCPConnection.connect(host: address.host, port: address.port, on: self))
    }

    /// Two ends of one connection.
    func connectedPair(limits: StreamLimits = StreamLimits()) throws -> (TCPConnection, TCPConnection) {
        let listener = try TCPListener(host: "127.0.0.1", port: 0, limits: limits, on: self)
        let (host, port) = (listener.localAddress.host, listener.localAddress.port)
        let client = TCPConnection.connect(host: host, port: port, limits: limits, on: self)
        let pair = try run(until: client.and(listener.accept()))
        try run(until: listener.close())
        return pair
    }

    func closeAll(_ connections: TCPConnection...) throws {
        for connection in connections { _ = outcome(of: connection.close()) }
    }
}

/// The loopback addresses of this machine: some have no IPv6.
let loopbackHosts = ["127.0.0.1", "::1"].filter { host in
    (try? withLoop { loop in try loop.run(until: TCPListener(host: host, port: 0, on: loop).close()) }) != nil
}

/// A plain socket on the loopback interface.
final class PlainSocket {
    let descriptor: CInt

    private init(_ descriptor: CInt) {
        precondition(descriptor >= 0)
        self.descriptor = descriptor
    }

    deinit { Glibc.close(descriptor) }

    /// A socket with a port of its own, on which it listens if there is a backlog.
    static func bound(backlog: CInt? = nil) -> PlainSocket {
        let socket = PlainSocket(Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
        let status = unsafe socket.withAddress(port: 0) { unsafe bind(socket.descriptor, $0, $1) }
        precondition(status == 0)
        if let backlog { precondition(listen(socket.descriptor, backlog) == 0) }
        return socket
    }

    static func connected(to port: Int) -> PlainSocket {
        let socket = PlainSocket(Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
        let status = unsafe socket.withAddress(port: port) { unsafe Glibc.connect(socket.descriptor, $0, $1) }
        precondition(status == 0)
        return socket
    }

    var port: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        precondition(status == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Whether all of `bytes` could be sent.
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) == $0.count
        }
    }

    private func withAddress(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// How many sockets the process has open. Of use only where no other test runs: in an exit test.
func openSockets() -> Int {
    (0..<CInt(16_384)).count { descriptor in
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// A number that threads share.
final class Counter: Sendable {
    private let atomic = Atomic(0)

    var value: Int {
        get { atomic.load(ordering: .sequentiallyConsistent) }
        set { atomic.store(newValue, ordering: .sequentiallyConsistent) }
    }
}
