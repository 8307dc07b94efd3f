internal import FoundationEssentials

/// Gets the lines of a stream for a task that waits, without a future for each line.
final class LineAsker: StreamAsker {
    private let limit: Int
    private var line: Line

    init(_ stream: ByteStream, limit: Int) {
        self.limit = limit
        line = Line(limit: limit, longLines: stream.limits.longLines)
        super.init(stream)
    }

    override func willAsk() { line = Line(limit: limit, longLines: line.longLines) }

    override func take(from buffer: InboundBuffer) throws -> Data? {
        try line.take(from: buffer).flatMap { $0 }
    }

    /// Takes bytes that are exactly one line. Other bytes go through the buffer.
    override func receive(_ bytes: RawSpan, orAs data: () -> Data) -> Bool {
        guard stream.buffer?.longLine == nil else { return false }
        guard let line = line.message(ofWhole: bytes, orAs: data), let line else { return false }
        accept(line)
        return true
    }
}
