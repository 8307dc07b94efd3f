/// Reads the responses that come on a connection, in the order in which they come. As strict as ``RequestParser``, and used
/// in the same way.
public struct ResponseParser: Sendable {
    public enum Part: Sendable {
        case head(ResponseHead)
        /// The next bytes of the body, as offsets into the bytes that were passed.
        case body(Range<Int>)
        /// The last bytes of the body, perhaps none, and the fields behind a chunked body. A response without a body has no
        /// such part.
        case end(Range<Int>, trailers: Fields)
    }

    // Without what belongs to it: so a change of the state is a byte that changes.
    private enum State {
        case empty, line, fields, body, failed
    }

    public let limits: HTTPLimits
    /// Whether the next response answers a `HEAD`, and so has no body. Set it before its bytes are passed.
    public var answersHead = false
    private var state = State.empty
    /// The first line of the message whose fields are being read.
    private var line: StatusLine?
    /// The body that is being read.
    private var body: BodyScanner?
    private var failure: HTTPError?
    private var scanner = FieldScanner()
    private var head = ResponseHead()

    public init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Returns the next part of a response and how many bytes it covers, or `nil` if more bytes are needed: then pass the same
    /// ones again, with more behind them.
    ///
    /// After an error, all calls throw the same one.
    public mutating func next(_ bytes: RawSpan) throws(HTTPError) -> (part: Part, byteCount: Int)? {
        do {
            return try advance(bytes)
        } catch {
            (state, failure) = (.failed, error)
            throw error
        }
    }

    /// Takes note that the server has finished sending, when all parts have been taken. A body may reach up to there. Throws
    /// ``HTTPError/unexpectedEnd`` in the middle of a response.
    public mutating func finish() throws(HTTPError) {
        switch state {
        case .empty: return
        case .body where body!.endsAtClose: state = .empty
        case .failed: throw failure!
        default:
            (state, failure) = (.failed, .unexpectedEnd)
            throw .unexpectedEnd
        }
    }

    private mutating func advance(_ bytes: RawSpan) throws(HTTPError) -> (Part, Int)? {
        guard state == .body else {
            return try readHead(bytes) ? (.head(head), scanner.scanner.start) : nil
        }
        switch try body!.next(bytes, limits) {
        case nil: return nil
        case (.bytes(let range), let count)?: return (.body(range), count)
        case (.end(let range), let count)?:
            state = .empty
            return (.end(range, trailers: body.take()!.trailers), count)
        }
    }

    private mutating func readHead(_ raw: RawSpan) throws(HTTPError) -> Bool {
        let bytes = raw.octets
        while true {
            switch state {
            case .empty:
                guard bytes.count > 0 else { return false }
                scanner.begin()
                state = .line
            case .line:
                guard
                    let line = try scanner.scanner.next(
                        bytes, limit: limits.lineBytes, tooLong: .lineTooLong, total: limits.headBytes)
                else { return false }
                (self.line, state) = (try StatusLine(bytes, line), .fields)
            case .fields:
                guard try scanner.read(bytes, limits) else { return false }
                try complete(line!, raw)
                return true
            case .failed: throw failure!
            case .body: return false
            }
        }
    }

    /// Fills `head` in, and decides on the body.
    private mutating func complete(_ line: StatusLine, _ raw: RawSpan) throws(HTTPError) {
        let frame = scanner.frame
        guard !frame.isChunked || frame.contentLength == nil else {
            throw .contentLengthAndTransferEncoding
        }
        guard !frame.isChunked || line.version == .http11 else { throw .oldTransferEncoding }
        let isInterim = line.status < 200
        if isInterim || answersHead || line.status == 204 || line.status == 304 {
            head.body = .none
        } else if frame.isChunked {
            head.body = .chunked
        } else if let length = frame.contentLength {
            guard length <= limits.bodyBytes else { throw .bodyTooLong }
            head.body = length > 0 ? .length(length) : .none
        } else {
            head.body = .untilClose
        }
        head.version = line.version
        head.status = line.status
        let mayKeepAlive = line.version == .http11 || frame.wantsKeepAlive
        head.keepsAlive = mayKeepAlive && !frame.wantsClose && head.body != .untilClose
        scanner.move(to: &head.fields, raw, scanner.scanner.start)
        if !isInterim { answersHead = false }
        if head.body == .none {
            state = .empty
        } else {
            (body, state) = (BodyScanner(head.body), .body)
        }
    }
}
