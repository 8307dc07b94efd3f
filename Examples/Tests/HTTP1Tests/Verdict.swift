import HTTP1

/// Returns what the parser makes of bytes that come in `pieces`, in one line: `ok` and the messages, or `refused` and
/// why, and the messages before.
func verdict(_ kind: MessageKind, _ pieces: [ArraySlice<UInt8>]) -> String {
    var described: [String] = []
    do {
        switch kind {
        case .request: try describeRequests(pieces, &described)
        case .response, .headResponse: try describeResponses(kind, pieces, &described)
        }
    } catch {
        let before = described.isEmpty ? "" : " after " + described.joined(separator: " | ")
        return "refused \((error as! HTTPError).rawValue)" + before
    }
    return "ok " + described.joined(separator: " | ")
}

/// `ok`, or why it was refused.
func verdictWord(_ verdict: String) -> String {
    let words = verdict.split(separator: " ")
    return words[0] == "ok" ? "ok" : String(words[1])
}

private func describeRequests(_ pieces: [ArraySlice<UInt8>], _ described: inout [String]) throws {
    var (parser, current, isLast) = (RequestParser(), Summary?.none, false)
    let rest = try feed(pieces) { bytes in
        guard !isLast, let (part, count) = try parser.next(bytes) else { return nil }
        var isComplete = false
        switch part {
        case .head(let head):
            current = Summary("\(head.methodName) \(head.target)", head.fields.count)
            current!.upgrades =
                head.method == .connect || head.wantsUpgrade && head.fields["upgrade"]?.isEmpty == false
            isComplete = head.body == .none
        case .body(let range): current!.add(bytes.extracting(range))
        case .end(let range, let trailers):
            current!.add(bytes.extracting(range))
            current!.trailers = trailers.count
            isComplete = true
        }
        if isComplete, let summary = current.take() {
            described.append(summary.description)
            isLast = summary.upgrades
        }
        return count
    }
    if isLast {
        described.append("upgrade")
    } else if let current {
        described.append("\(current) ...")
    } else if rest.contains(where: { !"\r\n".utf8.contains($0) }) {
        described.append("...")
    }
}

private func describeResponses(
    _ kind: MessageKind, _ pieces: [ArraySlice<UInt8>], _ described: inout [String]
) throws {
    var (parser, current) = (ResponseParser(), Summary?.none)
    parser.answersHead = kind == .headResponse
    _ = try feed(pieces) { bytes in
        guard let (part, count) = try parser.next(bytes) else { return nil }
        switch part {
        case .head(let head):
            var summary = Summary("\(head.status)", head.fields.count)
            if head.body == .none { described.append(summary.take()) } else { current = summary }
        case .body(let range): current!.add(bytes.extracting(range))
        case .end(let range, let trailers):
            current!.add(bytes.extracting(range))
            current!.trailers = trailers.count
            described.append(current!.take())
            current = nil
        }
        return count
    }
    do {
        try parser.finish()
        if let current { described.append(current.description) }
    } catch HTTPError.unexpectedEnd {
        described.append(current.map { "\($0) ..." } ?? "...")
    }
}

/// Passes on the pieces, as a stream does: what no message covers comes again. Returns what is left.
private func feed(_ pieces: [ArraySlice<UInt8>], _ body: (RawSpan) throws -> Int?) rethrows -> [UInt8] {
    var buffer: [UInt8] = []
    for piece in pieces {
        buffer += piece
        while !buffer.isEmpty, let count = try body(buffer.span.bytes) {
            precondition((1...buffer.count).contains(count))
            buffer.removeFirst(count)
        }
    }
    return buffer
}

/// A message in a few words, which llhttp.js says in the same way.
private struct Summary: CustomStringConvertible {
    let name: String
    let fields: Int
    var length = 0
    var sum = 0
    var trailers = 0
    /// Whether no request follows.
    var upgrades = false

    init(_ name: String, _ fields: Int) {
        self.name = name
        self.fields = fields
    }

    mutating func add(_ bytes: RawSpan) {
        length += bytes.byteCount
        for index in bytes.byteOffsets {
            sum = (sum * 31 + Int(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))) % 65_521
        }
    }

    mutating func take() -> String { description }

    var description: String { "\(name) \(fields) \(length):\(sum) \(trailers)" }
}
