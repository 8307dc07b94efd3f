public import ByteStreams
public import Futures

extension EventLoop {
    /// What the process is given to read: a terminal, a pipe, a file, whatever it is.
    ///
    /// One stream at a time in the process. Descriptor 0 stays open, and in the mode in which it is, for all who share
    /// it; a socket, which has but one mode, gets its own back when the stream is closed and at the exit of the process.
    /// The same bytes cannot be read by `readLine()` or the like. Throws as
    /// ``DescriptorStream/init(adopting:limits:on:)`` does, and ``Futures/FutureError/invalidArgument(_:)`` while there
    /// is such a stream already.
    public func standardInput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(0, limits, on: self)
    }

    /// What the process writes to, beside `print`, whose lines may come between what is written here.
    ///
    /// Descriptor 1 stays open, and what is said of ``standardInput(limits:)`` goes for it too. `shutdownWrite()` tells
    /// the reader of a pipe or a socket the end; to a pipe nothing can be printed afterwards.
    /// Close it before the process ends, or what is queued is lost.
    public func standardOutput(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(1, limits, on: self)
    }

    /// Where the process complains; otherwise as ``standardOutput(limits:)``.
    public func standardError(limits: StreamLimits = StreamLimits()) throws -> DescriptorStream {
        try StandardStreams.open(2, limits, on: self)
    }
}
