internal import CLibUV
internal import Futures
internal import Glibc

/// A stream over a descriptor: a UNIX-domain socket, one end of a pipe, or any other stream socket.
final class UVPipe: UVStream {
    /// Whether the descriptor is a socket. A shutdown of a socket tells the peer that nothing follows. The
    /// reader of a pipe learns that only when the write end is closed.
    private let isSocket: Bool
    /// The descriptor of which this stream uses a copy, if `shutdownWrite` has to end that descriptor too.
    var original: CInt?

    init(_ driver: UVLoop, isSocket: Bool) throws(UVError) {
        self.isSocket = isSocket
        try unsafe super.init(driver, UV_NAMED_PIPE, "pipe") { loop, pipe in
            driver.makeStream { unsafe uv_pipe_init(loop, pipe, 0) }
        }
    }

    /// Creates a stream that takes over a descriptor. Puts the descriptor into non-blocking mode. If this
    /// throws, the caller keeps the descriptor.
    convenience init(_ driver: UVLoop, adopting descriptor: CInt, isSocket: Bool = true) throws(UVError) {
        try self.init(driver, isSocket: isSocket)
        try closeUnlessDone(unsafe uv_pipe_open(memory(as: uv_pipe_t.self), descriptor), "adopt")
    }

    /// Ends the write side. The reader of a pipe finds the end when no descriptor has the pipe open for
    /// writing.
    override func shutdownWrite() {
        guard !isSocket else { return super.shutdownWrite() }
        if let descriptor { replaceByNothing(descriptor) }
        if let original { replaceByNothing(original) }
        answerLater { $0.didShutDown(0) }
    }

    /// Whether closing may lose data. `false` for a copy, because the original descriptor keeps the
    /// connection.
    override var losesIfNotHeardOut: Bool { original == nil && super.losesIfNotHeardOut }
}

/// Makes the descriptor stand for `/dev/null`. Returns `false` if that fails.
@discardableResult
func replaceByNothing(_ descriptor: CInt) -> Bool {
    let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard nothing >= 0 else { return false }
    defer { close(nothing) }
    let flags = fcntl(descriptor, F_GETFD)
    guard dup2(nothing, descriptor) >= 0 else { return false }
    _ = fcntl(descriptor, F_SETFD, flags)
    return true
}
