/// What a request asks for.
public enum HTTPMethod: Hashable, Sendable {
    case get, head, post, put, delete, options, patch, trace, connect
    /// A method that is none of these: see ``RequestHead/methodName``.
    case other

    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        func isNamed(_ name: StaticString) -> Bool { bytes.equals(range.lowerBound, range.upperBound, name) }
        self =
            switch range.count {
            case 3 where isNamed("GET"): .get
            case 3 where isNamed("PUT"): .put
            case 4 where isNamed("HEAD"): .head
            case 4 where isNamed("POST"): .post
            case 5 where isNamed("PATCH"): .patch
            case 5 where isNamed("TRACE"): .trace
            case 6 where isNamed("DELETE"): .delete
            case 7 where isNamed("OPTIONS"): .options
            case 7 where isNamed("CONNECT"): .connect
            default: .other
            }
    }
}

/// The versions of HTTP that are spoken here. A message of HTTP/1.2 or a later HTTP/1 is taken as one of HTTP/1.1: RFC 9110
/// has a recipient do so.
public enum HTTPVersion: Hashable, Sendable {
    case http10, http11

    /// Reads the version at `start`.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at start: Int) throws(HTTPError) {
        // Nearly all are that.
        if bytes.count >= start + 8, bytes.equals(start, start + 8, "HTTP/1.1") {
            self = .http11
        } else {
            try self.init(unusual: bytes, at: start)
        }
    }

    @inline(never)
    private init(unusual bytes: Span<UInt8>, at start: Int) throws(HTTPError) {
        guard bytes.count >= start + 8, bytes.equals(start, start + 5, "HTTP/"),
            bytes[start + 6] == UInt8(ascii: "."),
            let major = decimalValue(bytes[start + 5]), let minor = decimalValue(bytes[start + 7])
        else { throw .badVersion }
        guard major == 1 else { throw .unsupportedVersion }
        self = minor == 0 ? .http10 : .http11
    }
}
