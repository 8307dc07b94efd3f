public import ByteStreams
public import Futures

extension EventLoop {
    /// Opens the standard input of the process as a stream. The standard input may be a terminal, a pipe, a
    /// file, or anything else.
    ///
    /// The process can have only one stream of its standard input at a time. When the stream is closed, descriptor 0
    /// stays open. The mode of descriptor 0, blocking or non-blocking, does not change for the processes that share it,
    /// such as a child that inherits it. The exceptions are a device that can report when it is ready, and a FIFO that
    /// nobody has open for writing any more. All of these processes share their mode: it is non-blocking until the
    /// stream is closed or the process exits, and then restored.
    ///
    /// Swift's `readLine()` and similar functions read the same input. Each byte goes either to the stream or to
    /// such a function, and never to both.
    ///
    /// On a virtual loop, and on the host of a `World`, the stream is a pipe, and the test has its other end.
    ///
    /// Throws the errors of ``DescriptorStream/init(adopting:limits:on:)``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if another stream of the standard input is open.
    public func standardInput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(0, limits, on: self)
    }

    /// Opens the standard output of the process as a stream. Lines from `print` may appear between the bytes that
    /// you write to the stream.
    ///
    /// The process can have only one stream of its standard output at a time. When the stream is closed,
    /// descriptor 1 stays open and in its former mode. Before the process ends, close the stream, and wait until
    /// the future of `close()` completes. Otherwise, queued bytes are lost.
    ///
    /// A reader that takes nothing for `limits.writeTimeout`, 30 s by default, ends the stream. If the reader may be a
    /// pager or a stopped terminal, set that limit to `nil`.
    ///
    /// If the standard output is a pipe or a socket, `shutdownWrite()` tells the reader that nothing follows.
    /// After that call, the reader does not get the output of `print` either.
    ///
    /// On a virtual loop, and on the host of a `World`, the stream is a pipe, and the test has its other end.
    ///
    /// Throws the errors of ``DescriptorStream/init(adopting:limits:on:)``. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if another stream of the standard output is open.
    public func standardOutput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(1, limits, on: self)
    }

    /// Opens the standard error of the process, descriptor 2, as a stream. Everything else is the same as in
    /// ``standardOutput(limits:)``.
    public func standardError(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(2, limits, on: self)
    }
}
