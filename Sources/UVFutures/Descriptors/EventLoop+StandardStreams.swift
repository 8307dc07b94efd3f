public import ByteStreams
public import Futures

extension EventLoop {
    /// Opens the standard input of the process as a stream: a terminal, a pipe, a file, or anything else.
    ///
    /// The process can have one such stream at a time. Descriptor 0 stays open, and keeps its mode for all that share
    /// it. A socket, which has only one mode, gets its former mode back when the stream is closed and at the exit of
    /// the process. `readLine()` or the like cannot read the same bytes. Throws as
    /// ``DescriptorStream/init(adopting:limits:on:)`` does, and ``Futures/FutureError/invalidArgument(_:)`` while there
    /// is such a stream already.
    public func standardInput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(0, limits, on: self)
    }

    /// Opens the standard output of the process as a stream. Lines of `print` may come between what is written here.
    ///
    /// Descriptor 1 stays open, and the rules of ``standardInput(limits:)`` apply here too. `shutdownWrite()` tells the
    /// reader of a pipe or a socket the end; to a pipe nothing can be printed afterwards. Close the stream before the
    /// process ends, or queued data is lost.
    public func standardOutput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(1, limits, on: self)
    }

    /// Opens the standard error of the process as a stream, like ``standardOutput(limits:)``.
    public func standardError(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(2, limits, on: self)
    }
}
