/// What a request asks for.
public enum HTTPMethod: Hashable, Sendable {
    case get, head, post, put, delete, options, patch, trace, connect
    /// A method that is none of these.
    case other(String)

    init(_ bytes: Span<UInt8>, _ end: Int) {
        self =
            switch end {
            case 3 where bytes.equals(end, "GET"): .get
            case 3 where bytes.equals(end, "PUT"): .put
            case 4 where bytes.equals(end, "HEAD"): .head
            case 4 where bytes.equals(end, "POST"): .post
            case 5 where bytes.equals(end, "PATCH"): .patch
            case 5 where bytes.equals(end, "TRACE"): .trace
            case 6 where bytes.equals(end, "DELETE"): .delete
            case 7 where bytes.equals(end, "OPTIONS"): .options
            case 7 where bytes.equals(end, "CONNECT"): .connect
            default: .other(String(copying: bytes, 0..<end))
            }
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method as it is sent, such as `GET`.
    public var description: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .patch: "PATCH"
        case .trace: "TRACE"
        case .connect: "CONNECT"
        case .other(let name): name
        }
    }
}

/// The versions of HTTP that are spoken here.
public enum HTTPVersion: Hashable, Sendable {
    case http10, http11

    /// Reads the version at `start`.
    init(_ bytes: Span<UInt8>, at start: Int) throws(HTTPError) {
        guard bytes.count >= start + 8, bytes.equals(start, start + 5, "HTTP/"),
            bytes[start + 6] == UInt8(ascii: "."),
            let major = decimalValue(bytes[start + 5]), let minor = decimalValue(bytes[start + 7])
        else { throw .badVersion }
        guard major == 1, minor <= 1 else { throw .unsupportedVersion }
        self = minor == 1 ? .http11 : .http10
    }
}
