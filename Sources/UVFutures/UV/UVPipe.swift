internal import CLibUV
internal import Futures
internal import Glibc

/// A stream over a descriptor: a UNIX-domain socket, one end of a pipe, any other stream socket.
final class UVPipe: UVStream {
    /// Whether the other end is told by a shutdown of a socket. To a pipe only its end tells that.
    private let isSocket: Bool
    /// What this is a copy of, and has to end too.
    var original: CInt?

    init(_ driver: UVLoop, isSocket: Bool) throws(UVError) {
        self.isSocket = isSocket
        try unsafe super.init(driver, UV_NAMED_PIPE, "pipe") { loop, pipe in
            driver.makeStream { unsafe uv_pipe_init(loop, pipe, 0) }
        }
        loop.count(connections: 1)
    }

    /// Takes over a descriptor, unless it throws. It is in non-blocking mode from now on.
    convenience init(_ driver: UVLoop, adopting descriptor: CInt, isSocket: Bool = true) throws(UVError) {
        try self.init(driver, isSocket: isSocket)
        let status = unsafe uv_pipe_open(memory(as: uv_pipe_t.self), descriptor)
        if status != 0 {
            close()
            throw UVError(status, "adopt", local: nil, peer: nil)
        }
    }

    /// Whoever reads the pipe finds its end when nobody has it open for writing.
    override func shutdownWrite() {
        guard !isSocket else { return super.shutdownWrite() }
        if let descriptor { replaceByNothing(descriptor) }
        if let original { replaceByNothing(original) }
        answerLater { $0.didShutDown(0) }
    }

    /// The connection of what this is a copy of goes on.
    override var losesIfNotHeardOut: Bool { original == nil && super.losesIfNotHeardOut }

    override func didClose() {
        loop.count(connections: -1)
        super.didClose()
    }
}

/// Lets the descriptor stand for what takes all bytes and has none.
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
