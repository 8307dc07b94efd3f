import CFuturesSystem
import CLibUV
import Dispatch
import Foundation
import Futures
import FuturesTesting
import Glibc
import Synchronization
import Testing
import UVFutures

/// The systems on which a test runs.
enum TestNetwork: String, CaseIterable, Codable, CustomTestStringConvertible {
    case system, virtual

    var testDescription: String { rawValue }

    func makeLoop() throws -> EventLoop { self == .system ? try EventLoop() : .virtual() }
}

/// TCP and the UNIX domain, each on each system.
let bothKinds = TestNetwork.allCases.flatMap { network in
    [false, true].map { (isUnix: $0, network: network) }
}

/// Runs `body` with a loop of its own, shuts that down, and proves that nothing is left of it:
/// `uv_loop_close`, which traps otherwise, finds no handle, and a handle takes its descriptor with it.
func withLoop(
    _ network: TestNetwork = .system, ignoringUnhandled: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: (EventLoop) throws -> Void
) throws {
    let loop = try network.makeLoop()
    let before = loop.statistics
    var unhandled: [any Error] = []
    loop.onUnhandledFailure = { unhandled.append($0) }
    defer {
        loop.shutdown()
        loop.onUnhandledFailure = nil
        #expect(loop.statistics.alive == before.alive, "\(loop.dump())", sourceLocation: sourceLocation)
        if !ignoringUnhandled { #expect(unhandled.isEmpty, sourceLocation: sourceLocation) }
    }
    try body(loop)
}

extension LoopStatistics {
    /// What has to be as it was when all is done.
    var alive: [Int] { [futures, promises, timers, handles, connections, readyCallbacks] }
}

extension Result where Failure == any Error {
    var isCancellation: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
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

    /// What ended the stream, once something has. The system may take its time to tell of a reset, and a stream on which
    /// nobody reads does not keep the loop alive until then.
    func failure(ofEnd stream: ByteStream) -> (any Error)? {
        let closed = stream.closed
        try? runUntil { closed.isCompleted }
        return failure(of: closed)
    }

    /// Runs the loop until `condition` holds, or for a minute.
    func runUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let start = now
        while !condition() {
            guard start.duration(to: now) < .seconds(60) else {
                Issue.record("what is waited for does not happen", sourceLocation: sourceLocation)
                throw FutureError.stalled
            }
            try run(until: sleep(for: .milliseconds(1)))
        }
    }

    /// Runs the loop for so long.
    func run(for time: Duration) throws { try run(until: sleep(for: time)) }

    func connect(to address: SocketAddress) throws -> TCPConnection {
        try run(until: TCPConnection.connect(host: address.host, port: address.port, on: self))
    }

    /// Two ends of one connection.
    func connectedPair(limits: StreamLimits = StreamLimits()) throws -> (TCPConnection, TCPConnection) {
        let listener = try TCPListener(
            host: "127.0.0.1", port: 0, options: ListenOptions(limits: limits), on: self)
        let (host, port) = (listener.localAddress.host, listener.localAddress.port)
        let client = TCPConnection.connect(host: host, port: port, limits: limits, on: self)
        let pair = try run(until: client.and(listener.accept()))
        try run(until: listener.close())
        return pair
    }

    /// Closes them at the same time: one that is closed waits for the end of its peer.
    func closeAll(_ connections: ByteStream...) { closeAll(connections) }

    func closeAll(_ connections: [ByteStream]) {
        let closes = connections.map { $0.close() }
        for close in closes { _ = outcome(of: close) }
    }
}

/// Sends back what comes.
func echo(_ connection: TCPConnection) -> Future<Void> {
    connection.forEachChunk { chunk in connection.write(chunk) }
}

/// What `body` throws, in words.
func complaint(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return "\(error)"
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
        let socket = PlainSocket(
            Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0))
        let status = unsafe withAddress(port: 0) { unsafe bind(socket.descriptor, $0, $1) }
        precondition(status == 0)
        if let backlog { precondition(listen(socket.descriptor, backlog) == 0) }
        return socket
    }

    static func connected(to port: Int) -> PlainSocket {
        let socket = unconnected()
        socket.connect(to: port)
        return socket
    }

    static func unconnected() -> PlainSocket {
        PlainSocket(Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0))
    }

    static func unnamedMessages() -> PlainSocket {
        PlainSocket(Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0))
    }

    func connect(to port: Int) {
        let status = unsafe Self.withAddress(port: port) { unsafe Glibc.connect(descriptor, $0, $1) }
        precondition(status == 0)
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

    /// Sends the end, and takes nothing more.
    func shutdown() { _ = Glibc.shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// What has arrived, 64 KiB of it at most; `nil` if nothing has, and empty at the end or after a reset.
    func receive() -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            let status = unsafe recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            count = max(0, status)
            if status < 0, errno == EAGAIN { count = 65_536 }
        }
        return bytes.count == 65_536 ? nil : bytes
    }

    /// Waits for so many bytes, or fewer if the peer ends before.
    func receiveExactly(_ count: Int) -> [UInt8] {
        var received: [UInt8] = []
        while received.count < count {
            var byte: UInt8 = 0
            guard unsafe recv(descriptor, &byte, 1, 0) == 1 else { break }
            received.append(byte)
        }
        return received
    }

    private static func withAddress(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
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

/// How long this thread has run so far.
func cpuTime() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// A number that threads share.
final class Counter: Sendable {
    private let atomic = Atomic(0)

    var value: Int {
        get { atomic.load(ordering: .sequentiallyConsistent) }
        set { atomic.store(newValue, ordering: .sequentiallyConsistent) }
    }

    @discardableResult
    func add(_ number: Int) -> Int {
        atomic.wrappingAdd(number, ordering: .sequentiallyConsistent).newValue
    }
}

/// How many bytes have come from each port, for other threads to see.
final class Progress: Sendable {
    private let counts = Locked<[Int: Int]>([:])

    func add(_ count: Int, for port: Int) { counts.withLock { $0[port, default: 0] += count } }

    func count(for port: Int) -> Int { counts.withLock { $0[port] ?? 0 } }
}

/// Whether it is open, and not for a timer of Dispatch's, which the tests themselves may cause, and which may be closed
/// between the two questions.
func isOpen(_ descriptor: CInt) -> Bool {
    guard fcntl(descriptor, F_GETFD) >= 0,
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    else { return false }
    return target != "anon_inode:[timerfd]"
}

/// Runs `body` while only so many descriptors are free. For a process of its own.
func withFreeDescriptors(_ count: Int, _ body: () throws -> Void) rethrows {
    var usual = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
    var limit = usual
    limit.rlim_cur = rlim_t((0..<CInt.max).lazy.filter { fcntl($0, F_GETFD) < 0 }.prefix(count + 1).last!)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    defer { unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual) }
    try body()
}

func openDescriptors() -> Set<CInt> { Set((0..<1024).filter(isOpen)) }
