internal import ByteStreams
internal import CFuturesSystem
internal import Futures
internal import Glibc

/// A descriptor that is to become a stream, with its kind and its directions.
struct OpenDescriptor {
    let number: CInt
    let kind: DescriptorStream.Kind
    let sides: StreamSides
    private let flags: CInt
    /// Whether the descriptor is one end of a pipe or a FIFO, and opening it again yields the same end. `false` for a
    /// device, for the writing end of a packet-mode pipe (`O_DIRECT`), and for an `O_PATH` descriptor.
    private let isReopenable: Bool

    /// Reads the kind of a descriptor. Throws `FutureError.invalidArgument` if the descriptor is not open, or
    /// is not a stream of bytes.
    init(_ number: CInt) throws {
        var status = stat()
        try requireArgument(
            unsafe fstat(number, &status) == 0, "descriptor \(number) is not open; give one that is")
        self.number = number
        flags = fcntl(number, F_GETFL)
        let sides: StreamSides =
            switch flags & O_ACCMODE {
            case O_RDONLY: .read
            case O_WRONLY: .write
            default: [.read, .write]
            }
        self.sides = sides
        isReopenable =
            status.st_mode & S_IFMT == S_IFIFO && flags & open_for_path_only == 0
            && (flags & open_for_packets == 0 || !sides.contains(.write))
        func refusal(_ text: String) -> FutureError { .invalidArgument("descriptor \(number) is \(text)") }
        switch status.st_mode & S_IFMT {
        case S_IFCHR where isatty(number) == 1: kind = .terminal
        case S_IFIFO: kind = .pipe
        case S_IFREG, S_IFBLK: kind = .file
        case S_IFCHR: kind = can_wait_for(number) ? .pipe : .file
        case S_IFSOCK:
            guard socketOption(SO_TYPE, of: number) == CInt(SOCK_STREAM.rawValue) else {
                throw refusal("a socket for messages, which have no order and no end; give a stream socket")
            }
            guard socketOption(SO_ACCEPTCONN, of: number) == 0 else {
                throw refusal("a socket that listens, and carries no bytes; accept connections from it")
            }
            kind = .socket
        case S_IFDIR: throw refusal("a directory, which has no bytes to read or write; give a file in it")
        default: throw refusal("not a stream of bytes; wait for it with watch(descriptor:)")
        }
    }

    /// Returns a new descriptor of the same file. If possible, the new descriptor has a mode of its own.
    ///
    /// `sharesMode` is `true` if making the new descriptor non-blocking also changes the mode of the caller's
    /// descriptor.
    func copy() throws(SystemError) -> (number: CInt, sharesMode: Bool) {
        if isReopenable {
            let mode = flags & (O_ACCMODE | O_APPEND) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
            let reopened = unsafe StandardDescriptors.leave(open("/proc/self/fd/\(number)", mode))
            // The new descriptor of a FIFO that nobody has open for writing any more would wait for the next writer.
            let hasEnded = events(of: number) & POLLHUP != 0
            if reopened >= 0, !hasEnded || events(of: reopened) & POLLHUP != 0 { return (reopened, false) }
            if reopened >= 0 { close(reopened) }
        }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError(-errno, "adopt") }
        return (copy, kind != .file && flags & O_NONBLOCK == 0)
    }

    /// Restores the descriptor's former mode.
    func restoreMode() { _ = fcntl(number, F_SETFL, flags) }
}
