import Glibc
import UVFutures

extension Micro {
    /// A body takes ticks, each of which is due at once.
    func ticks(_ count: Int) throws {
        let taking = Future(on: loop) { [loop] in
            var left = count
            for try await _ in loop.ticks(every: .nanoseconds(1)) {
                left -= 1
                if left == 0 { break }
            }
        }
        try loop.run(until: taking)
    }

    /// A body takes the values of `size` promised futures as they complete, until it has so many. Everything from the
    /// promises on counts.
    func completionOrder(_ count: Int, size: Int) throws {
        let size = min(size, count)
        let taking = Future(on: loop) { [loop] in
            for _ in 0..<max(1, count / size) {
                let promises = (0..<size).map { _ in loop.makePromise(of: Int.self) }
                loop.submit { for (number, promise) in promises.enumerated() { promise.succeed(number) } }
                    .whenSuccess {}
                var sum = 0
                for try await value in Future.inCompletionOrder(promises.map { $0.future }) { sum += value }
                precondition(sum == size * (size - 1) / 2)
            }
        }
        try loop.run(until: taking)
    }

    /// A body takes connections that come while it waits.
    func connections(_ count: Int) throws {
        let path = "@swift-uv-futures-\(getpid())"
        let listener = try UnixListener(path: path, on: loop)
        let taking = Future(on: loop) { [loop] in
            var left = count
            loop.execute { connect(to: path) }
            for try await connection in listener.connections {
                connection.abort()
                left -= 1
                if left == 0 { break }
                loop.execute { connect(to: path) }
            }
        }
        try loop.run(until: taking)
        try loop.run(until: listener.close())
    }
}

/// Connects to an abstract name, and closes that end of the connection.
private func connect(to path: String) {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: path.utf8.dropFirst()) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
    let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
    }
    precondition(status == 0, "no connection to be had")
    close(descriptor)
}
