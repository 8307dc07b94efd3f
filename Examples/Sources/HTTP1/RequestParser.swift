/// Reads the requests that come on a connection, in the order in which they come.
///
/// The parser is strict: what two programs might understand in two ways is an ``HTTPError``. Its verdict does not depend on
/// how the bytes are cut into pieces. It keeps no bytes of a request that is not complete: pass them again, with more behind
/// them. It does not look at all bytes again nonetheless.
///
/// ```swift
/// let served = connection.forEachMessage(decodedBy: RequestParser()) { part, bytes in
///     switch part {
///     case .head(let head): print(head.method, head.target)
///     case .body(let range): file.append(Data(copying: bytes.extracting(range)))
///     case .end: print("complete")
///     }
/// }
/// ```
public struct RequestParser: Sendable {
    public enum Part: Sendable {
        case head(RequestHead)
        /// The next bytes of the body, as offsets into the bytes that were passed.
        case body(Range<Int>)
        /// The last bytes of the body, perhaps none, and the fields behind a chunked body. A request without a body has no
        /// such part.
        case end(Range<Int>, trailers: Fields)
    }

    // Without what belongs to it: so a change of the state is a byte that changes.
    private enum State {
        case empty, line, fields, body, failed
    }

    public let limits: HTTPLimits
    private var state = State.empty
    /// The first line of the message whose fields are being read.
    private var line: RequestLine?
    /// The body that is being read.
    private var body: BodyScanner?
    private var failure: HTTPError?
    /// Whether the request that was refused is a `HEAD`, whose answer has no body.
    private(set) var hasRefusedHead = false
    private var scanner = FieldScanner()
    private var head = RequestHead()

    public init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Returns the next part of a request and how many bytes it covers, or `nil` if more bytes are needed: then pass the same
    /// ones again, with more behind them.
    ///
    /// After an error, all calls throw the same one.
    @inline(__always)
    public mutating func next(_ bytes: RawSpan) throws(HTTPError) -> (part: Part, byteCount: Int)? {
        do {
            return try advance(bytes)
        } catch {
            refuse(error, bytes.octets)
            throw error
        }
    }

    @inline(never)
    private mutating func refuse(_ error: HTTPError, _ bytes: Span<UInt8>) {
        switch state {
        case .failed: return
        case .body: hasRefusedHead = head.method == .head
        case .empty, .line, .fields:
            let start = bytes.count > 2 && bytes.equals(0, 2, "\r\n") ? 2 : 0
            hasRefusedHead = bytes.count > start + 5 && bytes.equals(start, start + 5, "HEAD ")
        }
        (state, failure) = (.failed, error)
    }

    @inline(__always)
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
            case .empty, .line:
                if state == .empty {
                    guard bytes.count > 0 else { return false }
                    scanner.begin()
                    state = .line
                }
                guard
                    let line = try scanner.scanner.next(
                        bytes, limit: limits.lineBytes, tooLong: .targetTooLong, total: limits.headBytes)
                else { return false }
                // Some clients of old send an empty line behind a body. RFC 9112 wants one to be passed over.
                if line.isEmpty, line.lowerBound == 0 { continue }
                (self.line, state) = (try RequestLine(bytes, line), .fields)
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
    @inline(__always)
    private mutating func complete(_ line: RequestLine, _ raw: RawSpan) throws(HTTPError) {
        let frame = scanner.frame
        let is11 = line.version == .http11
        var body = BodyFrame.none
        guard frame.hasHost || !is11 else { throw .missingHost }
        if frame.isChunked {
            guard frame.contentLength == nil else { throw .contentLengthAndTransferEncoding }
            guard is11 else { throw .oldTransferEncoding }
            body = .chunked
        } else if let length = frame.contentLength, length > 0 {
            guard length <= limits.bodyBytes else { throw .bodyTooLong }
            body = .length(length)
        }
        let head = self.head.renew()
        head.body = body
        head.method = line.method
        head.version = line.version
        head.methodRange = line.methodRange
        head.targetRange = line.target
        head.pathRange = line.path
        head.keepsAlive = is11 ? !frame.wantsClose : frame.wantsKeepAlive && !frame.wantsClose
        head.expectsContinue = is11 && frame.expectsContinue && body != .none
        head.wantsUpgrade = is11 && frame.wantsUpgrade
        unsafe scanner.move(to: &head.fields, raw, scanner.scanner.start)
        if body == .none {
            state = .empty
        } else {
            (self.body, state) = (BodyScanner(body), .body)
        }
    }
}
