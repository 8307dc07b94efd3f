internal import CLibUV
internal import Futures
internal import Glibc

/// A stream over a descriptor: a UNIX-domain socket, one end of a pipe, any other stream socket.
final class UVPipe: UVStream {
    /// Whether it is a socket, where a shutdown tells the other end. A pipe tells that only by its end.
    private let isSocket: Bool
    /// The original of this copy, which has to end too.
    var original: CInt?

    init(_ driver: UVLoop, isSocket: Bool) throws(UVError) {
        self.isSocket = isSocket
        try unsafe super.init(driver, UV_NAMED_PIPE, "pipe") { loop, pipe in
            driver.makeStream { unsafe uv_pipe_init(loop, pipe, 0) }
        }
    }

    /// Takes over a descriptor, unless it throws. The descriptor is in non-blocking mode from now on.
    convenience init(_ driver: UVLoop, adopting descriptor: CInt, isSocket: Bool = true) throws(UVError) {
        try self.init(driver, isSocket: isSocket)
        try closeUnlessDone(unsafe uv_pipe_open(memory(as: uv_pipe_t.self), descriptor), "adopt")
    }

    /// Ends the write side. A reader of the pipe finds its end when nothing has it open for writing.
    override func shutdownWrite() {
        guard !isSocket else { return super.shutdownWrite() }
        if let descriptor { replaceByNothing(descriptor) }
        if let original { replaceByNothing(original) }
        answerLater { $0.didShutDown(0) }
    }

    /// Whether closing may lose data: never for a copy, because the connection of the original continues.
    override var losesIfNotHeardOut: Bool { original == nil && super.losesIfNotHeardOut }
}

/// Lets the descriptor stand for a device that takes all bytes and has none.
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
