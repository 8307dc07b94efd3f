/// The first line and the fields of a request.
public struct RequestHead: Sendable {
    /// Apart, so that a copy of a head is one more reference to it.
    private var contents = Contents()

    final class Contents: @unchecked Sendable {
        // Written before anybody else has the head: see `renew`.
        var method = HTTPMethod.get
        var version = HTTPVersion.http11
        @exclusivity(unchecked) var fields = Fields()
        var body = BodyFrame.none
        var keepsAlive = true
        var expectsContinue = false
        var wantsUpgrade = false
        var methodRange = 0..<0
        var targetRange = 0..<0
        var pathRange = 0..<0
    }

    public init() {}

    /// Returns what another request is to be written into. If nobody has kept the last one, that is its memory.
    mutating func renew() -> Contents {
        if !isKnownUniquelyReferenced(&contents) { contents = Contents() }
        return contents
    }

    public var method: HTTPMethod { contents.method }
    /// The method as it came.
    public var methodName: String { fields.string(contents.methodRange) }
    public var version: HTTPVersion { contents.version }
    public var fields: Fields { unsafe contents.fields }
    /// Where the body ends.
    public var body: BodyFrame { contents.body }
    /// Whether the client wants to send further requests on this connection.
    public var keepsAlive: Bool { contents.keepsAlive }
    /// Whether the client waits for `100 Continue` before it sends the body.
    public var expectsContinue: Bool { contents.expectsContinue }
    /// Whether the client offers to go on with another protocol, which the field `Upgrade` names.
    public var wantsUpgrade: Bool { contents.wantsUpgrade }

    /// The target as it came: a path and a query, a whole URL, or for `CONNECT` a host and a port.
    public var target: String { fields.string(contents.targetRange) }
    /// The path of the target, escaped as it came. Empty for the targets `*` and `host:port`.
    public var path: String { fields.string(contents.pathRange) }

    /// Whether the path of the target came as `path`. No string is made for it.
    public func isFor(_ path: StaticString) -> Bool {
        let (text, range) = (fields.text, contents.pathRange)
        return text.span.equals(range.lowerBound, range.upperBound, path)
    }

    /// What follows `prefix` in the path, escaped as it came. `nil` if the path begins otherwise; then no string is made.
    public func path(after prefix: StaticString) -> String? {
        let (text, range) = (fields.text, contents.pathRange)
        let start = range.lowerBound + prefix.utf8CodeUnitCount
        guard start <= range.upperBound, text.span.equals(range.lowerBound, start, prefix) else { return nil }
        return fields.string(start..<range.upperBound)
    }

    /// What follows the question mark of the target, or `nil` if there is none.
    public var query: String? {
        let (end, pathRange) = (contents.targetRange.upperBound, contents.pathRange)
        guard pathRange.upperBound < end, !pathRange.isEmpty else { return nil }
        return fields.string(pathRange.upperBound + 1..<end)
    }

    /// The path with its escapes replaced. `nil` if one of them is broken or stands for a zero byte, or if the bytes are no
    /// UTF-8.
    public var decodedPath: String? {
        var (decoded, rest) = ([UInt8](), path.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalValue),
                let low = rest.popFirst().flatMap(hexadecimalValue), high | low != 0
            else { return nil }
            decoded.append(UInt8(high << 4 | low))
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

/// The first line of a request.
struct RequestLine {
    let method: HTTPMethod
    let methodRange: Range<Int>
    let version: HTTPVersion
    let target: Range<Int>
    let path: Range<Int>

    /// Reads the line at `line`, as offsets into `bytes`.
    init(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPError) {
        (method, methodRange) = try Self.method(bytes, line)
        let start = methodRange.upperBound + 1
        // The path of most targets is all in front of the question mark, and checked with the target.
        let question = bytes.firstIndex(from: start, to: line.upperBound, notIn: .path)
        let end = bytes.firstIndex(from: question, to: line.upperBound, notIn: .target)
        guard end < line.upperBound else { throw end == start ? .badRequestLine : .badVersion }
        guard bytes[end] == UInt8(ascii: " "), end > start else { throw .badTarget }
        target = start..<end
        let isPath = bytes[start] == UInt8(ascii: "/") && method != .connect
        path = isPath ? start..<question : try Self.unusualPath(bytes, target, method, question)
        guard line.upperBound == end + 9 else { throw .badVersion }
        version = try HTTPVersion(bytes, at: end + 1)
    }

    /// Reads the method, behind which there is a space.
    @inline(__always)
    private static func method(
        _ bytes: Span<UInt8>, _ line: Range<Int>
    ) throws(HTTPError) -> (HTTPMethod, Range<Int>) {
        let start = line.lowerBound
        if line.count > 4, bytes.equals(start, start + 4, "GET ") { return (.get, start..<start + 3) }
        let end = bytes.firstIndex(from: start, to: line.upperBound, notIn: .token)
        guard end < line.upperBound, end > start else { throw .badRequestLine }
        guard bytes[end] == UInt8(ascii: " ") else {
            let isResponse = line.count >= 5 && bytes.equals(start, start + 5, "HTTP/")
            throw isResponse ? .notForServers : .badMethod
        }
        return (HTTPMethod(bytes, start..<end), start..<end)
    }

    /// Returns where the path of a target is that is no path alone. Each form of target goes with certain methods.
    private static func unusualPath(
        _ bytes: Span<UInt8>, _ target: Range<Int>, _ method: HTTPMethod, _ question: Int
    ) throws(HTTPError) -> Range<Int> {
        let start = target.lowerBound
        if method == .connect {
            let end = bytes.firstIndex(from: start, to: target.upperBound, notIn: .host)
            guard end == target.upperBound else { throw .badTarget }
            guard target.contains(where: { bytes[$0] == UInt8(ascii: ":") }) else { throw .badTarget }
            return start..<start
        }
        if bytes[start] == UInt8(ascii: "*"), target.count == 1, method == .options { return start..<start }
        return try endOfAuthority(bytes, target)..<question
    }

    /// Returns where the path of a whole URL begins.
    private static func endOfAuthority(_ bytes: Span<UInt8>, _ target: Range<Int>) throws(HTTPError) -> Int {
        let (start, count) = (target.lowerBound, target.count)
        let scheme =
            if count > 7, bytes.matches(start, start + 7, "http://") {
                7
            } else if count > 8, bytes.matches(start, start + 8, "https://") {
                8
            } else {
                throw .badTarget
            }
        let end = bytes.firstIndex(from: start + scheme, to: target.upperBound, notIn: .host)
        guard end > start + scheme else { throw .badTarget }
        guard end == target.upperBound || bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: "?")
        else {
            throw .badTarget
        }
        return end
    }
}
