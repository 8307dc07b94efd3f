/// The first line and the fields of a request.
public struct RequestHead: Sendable {
    public internal(set) var method = HTTPMethod.get
    public internal(set) var version = HTTPVersion.http11
    public internal(set) var fields = Fields()
    /// Where the body ends.
    public internal(set) var body = BodyFrame.none
    /// Whether the client wants to send further requests on this connection.
    public internal(set) var keepsAlive = true
    /// Whether the client waits for `100 Continue` before it sends the body.
    public internal(set) var expectsContinue = false
    /// Whether the client offers to go on with another protocol, which the field `Upgrade` names.
    public internal(set) var wantsUpgrade = false
    var targetRange = 0..<0
    /// Where the path of the target begins and ends. Empty for the targets `*` and `host:port`.
    var pathRange = 0..<0

    public init() {}

    /// The target as it came: a path and a query, a whole URL, or for `CONNECT` a host and a port.
    public var target: String { fields.string(targetRange) }
    /// The path of the target, escaped as it came.
    public var path: String { fields.string(pathRange) }

    /// What follows the question mark of the target, or `nil` if there is none.
    public var query: String? {
        let end = targetRange.upperBound
        guard pathRange.upperBound < end, !pathRange.isEmpty else { return nil }
        return fields.string(pathRange.upperBound + 1..<end)
    }

    /// The path with its escapes replaced. `nil` if one of them is broken or stands for a zero byte, or if the bytes are no
    /// UTF-8.
    public var decodedPath: String? {
        var (decoded, rest) = ([UInt8](), fields.text[pathRange])
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
    let version: HTTPVersion
    let target: Range<Int>
    let path: Range<Int>

    /// Reads the line at `line`, as offsets into `bytes`.
    init(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPError) {
        if bytes.extracting(line).equals(min(5, line.count), "HTTP/") { throw .notForServers }
        var end = bytes.firstIndex(from: line.lowerBound, to: line.upperBound, notIn: .token)
        guard end < line.upperBound, end > line.lowerBound else { throw .badRequestLine }
        guard bytes[end] == UInt8(ascii: " ") else { throw .badMethod }
        method = HTTPMethod(bytes.extracting(line.lowerBound..<end), end - line.lowerBound)

        let start = end + 1
        end = bytes.firstIndex(from: start, to: line.upperBound, notIn: .target)
        guard end < line.upperBound else { throw end == start ? .badRequestLine : .badVersion }
        guard bytes[end] == UInt8(ascii: " "), end > start else { throw .badTarget }
        target = start..<end
        path = try Self.path(bytes, target, method)
        guard line.upperBound == end + 9 else { throw .badVersion }
        version = try HTTPVersion(bytes, at: end + 1)
    }

    /// Returns where the path of a target is. Each form of target goes with certain methods.
    private static func path(
        _ bytes: Span<UInt8>, _ target: Range<Int>, _ method: HTTPMethod
    ) throws(HTTPError) -> Range<Int> {
        var start = target.lowerBound
        if method == .connect {
            let end = bytes.firstIndex(from: start, to: target.upperBound, notIn: .host)
            guard end == target.upperBound else { throw .badTarget }
            guard target.contains(where: { bytes[$0] == UInt8(ascii: ":") }) else { throw .badTarget }
            return start..<start
        }
        if bytes[start] == UInt8(ascii: "*"), target.count == 1, method == .options { return start..<start }
        if bytes[start] != UInt8(ascii: "/") { start = try endOfAuthority(bytes, target) }
        let end = bytes.position(of: UInt8(ascii: "?"), from: start) ?? target.upperBound
        return start..<min(end, target.upperBound)
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
