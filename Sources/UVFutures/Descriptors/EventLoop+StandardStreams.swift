public import ByteStreams
public import Futures

extension EventLoop {
    /// Opens the standard input of the process as a stream: a terminal, a pipe, a file, or anything else.
    ///
    /// The process can have only one stream of its standard input at a time. Descriptor 0 stays open, and
    /// keeps its mode for all processes that share it. A socket is the exception, because it has only one
    /// mode. It gets its former mode back when the stream is closed, and at the exit of the process.
    ///
    /// `readLine()` and similar functions do not get the bytes that the stream reads, and the stream does not
    /// get theirs. Throws what ``DescriptorStream/init(adopting:limits:on:)`` throws, and
    /// ``Futures/FutureError/invalidArgument(_:)`` while another stream of the standard input is open.
    public func standardInput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(0, limits, on: self)
    }

    /// Opens the standard output of the process as a stream. Lines from `print` may appear between what you write to
    /// the stream.
    ///
    /// Descriptor 1 stays open, and the rules of ``standardInput(limits:)`` apply here too. `shutdownWrite()` tells the
    /// reader of a pipe or a socket that nothing follows. After that, nothing can be printed to the pipe. Close the
    /// stream before the process ends. Otherwise, queued data is lost.
    public func standardOutput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(1, limits, on: self)
    }

    /// Opens the standard error of the process as a stream, with the rules of ``standardOutput(limits:)``.
    public func standardError(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(2, limits, on: self)
    }
}
