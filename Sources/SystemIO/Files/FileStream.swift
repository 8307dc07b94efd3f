public import ByteStreams
internal import FoundationEssentials
internal import Futures

/// A file as a stream. Reads proceed in order from one position, and writes go to another one or to the end.
///
/// Reads and writes run on the file pool. The stream reads ahead by at most one block of 128 KiB. The end of the file
/// is the end of the stream: bytes appended later are not read. The end of the stream does not close the ``File``.
public final class FileStream: ByteStream {
    /// The file. It stays open while the stream is.
    public let file: File
    private let carrier: FileTransport

    fileprivate init(_ file: File, from position: Int, writingAt: Int?, _ limits: SharedLimits) {
        self.file = file
        carrier = FileTransport(file, readingAt: position, writingAt: writingAt)
        let sides: StreamSides =
            switch file.access {
            case .readOnly: .read
            case .writeOnly: .write
            case .readWrite: [.read, .write]
            }
        super.init(loop: file.operations.loop, transport: carrier, limits: limits, sides: sides)
        carrier.stream = self
    }
}

extension FileStream: CustomStringConvertible {
    /// The stream in one line, such as `stream of file a.txt below spool`.
    public var description: String { "stream of \(file)" }
}

extension File {
    /// Returns a stream that reads the file from `position` on. It writes from `writingAt` on, or appends to the file
    /// if `writingAt` is `nil`.
    ///
    /// The stream reads if the file is open for reading, and writes if the file is open for writing. Several streams of
    /// one file are independent. ``ByteStreams/ByteStream/shutdownWrite()`` waits for the writes, but
    /// ``ByteStreams/ByteStream/close(within:)`` does not call ``sync(dataOnly:)``. A system error breaks the stream
    /// with ``FileError``. Throws ``Futures/FutureError/closed(_:)`` after ``close()``, and
    /// ``Futures/FutureError/invalidArgument(_:)`` if a position is negative or `limits` are out of range.
    ///
    /// ```swift
    /// for try await line in try file.stream().lines() { print(line.count) }
    /// ```
    public func stream(
        from position: Int = 0, writingAt: Int? = nil, limits: StreamLimits = StreamLimits()
    ) throws -> FileStream {
        _ = try operations.borrow()
        try checkOffset(position)
        try checkOffset(writingAt ?? 0)
        try limits.validate()
        return FileStream(self, from: position, writingAt: writingAt, .of(limits, on: operations.loop))
    }
}

/// The transport of a stream over a file.
private final class FileTransport: ByteTransport {
    private static let block = 131_072

    weak var stream: ByteStream?
    private let file: File
    private let loop: LoopCore
    private var readPosition: Int
    private var writePosition: Int?
    private var isReading = false
    private var isFetching = false
    /// The block that was read but not delivered. Empty at the end of the file.
    private var fetched: Result<Data, any Error>?
    private(set) var unwrittenBytes = 0
    /// Completes when the stream closes the transport, or when the loop is shut down.
    private let life: Promise<Void>

    init(_ file: File, readingAt: Int, writingAt: Int?) {
        self.file = file
        loop = file.operations.loop
        (readPosition, writePosition) = (readingAt, writingAt)
        life = loop.makePromise()
        life.future.whenComplete { [self] _ in
            isReading = false
            stream?.transportDidClose()
            stream = nil
        }
    }

    // MARK: Reading

    func startReading() {
        isReading = true
        loop.later { [self] in deliver() }
    }

    func stopReading() { isReading = false }

    private func deliver() {
        guard isReading, let result = fetched.take() else { return fetch() }
        switch result {
        case .success(let bytes) where bytes.isEmpty:
            isReading = false
            stream?.transportDidReachEnd()
        case .success(let bytes):
            fetch()
            stream?.transportDidRead(bytes)
        case .failure(let error):
            stream?.transportDidFail(error)
        }
    }

    /// Reads the next block, if none waits to be delivered.
    private func fetch() {
        guard !isFetching, fetched == nil, isReading else { return }
        isFetching = true
        file.read(atMost: Self.block, at: readPosition).whenComplete { [self] result in
            isFetching = false
            if case .success(let bytes) = result { readPosition += bytes.count }
            fetched = result
            if isReading { deliver() }
        }
    }

    // MARK: Writing

    /// Returns 0, because the pool does all writes.
    func tryWrite(_ bytes: RawSpan) -> Int { 0 }
    func tryWrite(_ buffers: [Data]) -> Int { 0 }

    func write(_ buffers: [Data]) {
        let bytes = buffers.count == 1 ? buffers[0] : Data(buffers.joined())
        unwrittenBytes = bytes.count
        let written = writePosition.map { file.write(bytes, at: $0) } ?? file.append(bytes)
        written.whenComplete { [self] result in
            unwrittenBytes = 0
            if case .failure(let error) = result {
                stream?.transportDidWrite(failure: error)
            } else {
                if let position = writePosition { writePosition = position + bytes.count }
                stream?.transportDidWrite(failure: nil)
            }
        }
    }

    func shutdownWrite() { loop.later { [self] in stream?.transportDidShutdown(failure: nil) } }

    // MARK: Closing

    func close(resetting: Bool) { life.succeed() }
}
