public import ByteStreams
public import Futures
internal import Glibc

/// A stream over a descriptor of the system: a terminal, one end of a pipe, a connected socket, or a file.
///
/// On a read-only descriptor, a write fails with ``ByteStreams/StreamError/notWritable``. On a write-only
/// descriptor, a read fails with ``ByteStreams/StreamError/notReadable``. The loop's thread never blocks: the
/// stream reads and writes files on libuv's thread pool, and all other descriptors on the loop's thread without
/// waiting.
public final class DescriptorStream: ByteStream {
    /// The kind of object behind a descriptor.
    public enum Kind: Hashable, Sendable {
        case terminal
        /// One end of a pipe or a FIFO, or a device that can report when it is ready.
        case pipe
        /// A stream socket, of TCP or of the UNIX domain.
        case socket
        /// A file, or a device that is always ready, such as `/dev/null`.
        case file
    }

    public let kind: Kind
    /// Whether the caller's descriptor has also been put into non-blocking mode.
    let hasChangedMode: Bool
    let carrier: any StreamCarrier

    /// Creates a stream over an object that the system has made: by default, one end of a pipe.
    package init(
        over carrier: any StreamCarrier, _ kind: Kind = .pipe, sides: StreamSides,
        hasChangedMode: Bool = false, _ limits: StreamLimits, on loop: EventLoop
    ) {
        self.carrier = carrier
        self.hasChangedMode = hasChangedMode
        self.kind = kind
        super.init(loop: loop.core, transport: carrier, limits: .of(limits, on: loop.core), sides: sides)
        carrier.serve(self)
    }

    deinit {
        if isOpen { core.checkThread() }
        carrier.serve(nil)
    }

    /// Creates a stream that takes over `descriptor`. From now on, the stream owns the descriptor, and closes
    /// it. If this initializer throws, the caller keeps the descriptor.
    ///
    /// The stream sees what a program sees that uses the descriptor directly: the same bytes, the same end, and, in a
    /// file, the same position. If the descriptor is 0, 1 or 2, that number then refers to `/dev/null`.
    ///
    /// If other processes share the descriptor, its mode (blocking or non-blocking) does not change for them. The
    /// exceptions have one mode for all processes that share them, and it changes to non-blocking: sockets, some
    /// devices, the writing end of a packet-mode pipe (`O_DIRECT`), a FIFO that nobody has open for writing any more,
    /// and a terminal that cannot be opened again, such as the master side of a pseudo-terminal (`/dev/ptmx`).
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not open, if it belongs to a connection
    /// or a listener of this library, if it is watched on this loop, or if `limits` are out of range. Throws the same
    /// error if the descriptor is not a stream of bytes, for example if it is a
    /// directory, a listening socket, or an `eventfd`. Throws ``SystemError`` if the system refuses. Binds
    /// [`uv_pipe_open`](https://docs.libuv.org/en/v1.x/pipe.html), `uv_tty_init`, `uv_fs_read`,
    /// `uv_fs_write`.
    public convenience init(
        adopting descriptor: CInt, limits: StreamLimits = StreamLimits(), on loop: EventLoop
    ) throws {
        try loop.descriptorSystem().checkHasNoOwner(descriptor)
        try self.init(copying: OpenDescriptor(descriptor), limits: limits, on: loop)
        if StandardDescriptors.include(descriptor), replaceByNothing(descriptor) { return }
        Glibc.close(descriptor)
    }

    /// Creates a stream that takes over `descriptor`, which no other code uses.
    fileprivate convenience init(taking descriptor: CInt, _ limits: StreamLimits, on loop: EventLoop) throws {
        try self.init(copying: OpenDescriptor(descriptor), limits: limits, on: loop)
        Glibc.close(descriptor)
    }

    /// Creates a stream over a copy of `descriptor`, which stays open. With `endsToo`, a shutdown of the write side of
    /// a pipe also ends `descriptor`. With `keepsMode`, a socket or a terminal keeps its mode.
    convenience init(
        copying descriptor: OpenDescriptor, endsToo: Bool = false, keepsMode: Bool = false,
        limits: StreamLimits, on loop: EventLoop
    ) throws {
        let system = try loop.descriptorSystem()
        try limits.validate()
        if descriptor.kind == .terminal {
            let (terminal, sharesMode) = try system.openTerminal(descriptor.number, keepsMode: keepsMode)
            self.init(
                over: terminal, .terminal, sides: descriptor.sides, hasChangedMode: sharesMode, limits,
                on: loop)
            return
        }
        let copy = try descriptor.copy()
        do {
            let isShared = descriptor.kind == .socket && keepsMode
            let use: DescriptorUse =
                switch descriptor.kind {
                case .file: .file
                case .socket: isShared ? .sharedSocket : .socket
                default: .pipe(original: endsToo ? descriptor.number : nil)
                }
            self.init(
                over: try system.openStream(copy.number, as: use), descriptor.kind, sides: descriptor.sides,
                hasChangedMode: copy.sharesMode && !isShared, limits, on: loop)
        } catch {
            Glibc.close(copy.number)
            throw error
        }
    }
}

extension EventLoop {
    /// Creates a pipe, and returns its two ends: `reading` reads the bytes that are written to `writing`.
    ///
    /// Throws ``SystemError`` if no descriptors are left, and ``Futures/FutureError/invalidArgument(_:)`` if
    /// `limits` are out of range.
    public func makePipe(limits: StreamLimits = StreamLimits()) throws -> (
        reading: DescriptorStream, writing: DescriptorStream
    ) {
        core.checkThread()
        try limits.validate()
        var unused = try pipeDescriptors(for: "pipe")
        defer { for descriptor in unused { close(descriptor) } }
        let reader = try DescriptorStream(taking: unused[0], limits, on: self)
        unused.removeFirst()
        do {
            let writer = try DescriptorStream(taking: unused[0], limits, on: self)
            unused.removeFirst()
            return (reader, writer)
        } catch {
            reader.close()
            throw error
        }
    }
}
