import HTTP1

/// Returns what the parser makes of bytes that come in `pieces`, in one line: `ok` and the messages, or `refused` and why.
func verdict(_ kind: MessageKind, _ pieces: [ArraySlice<UInt8>]) -> String {
    var described: [String] = []
    do {
        switch kind {
        case .request: try describeRequests(pieces, &described)
        case .response, .headResponse: try describeResponses(kind, pieces, &described)
        }
    } catch {
        return "refused \((error as! HTTPError).rawValue)"
    }
    return "ok " + described.joined(separator: " | ")
}

private func describeRequests(_ pieces: [ArraySlice<UInt8>], _ described: inout [String]) throws {
    var (parser, current) = (RequestParser(), Summary?.none)
    let isUpgraded = try feed(pieces) { bytes in
        guard let (part, count) = try parser.next(bytes) else { return nil }
        switch part {
        case .head(let head):
            var summary = Summary("\(head.methodName) \(head.target)", head.fields.count)
            if head.method == .connect || head.wantsUpgrade && head.fields["upgrade"] != nil {
                described += [summary.description, "upgrade"]
                throw Upgraded()
            }
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
    if isUpgraded { return }
    if let current {
        described.append("\(current) ...")
    } else if !parser.isBetweenRequests {
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

private struct Upgraded: Error {}

/// Passes on the pieces, as a stream does: what no message covers comes again. Returns whether that was ended by `Upgraded`.
private func feed(_ pieces: [ArraySlice<UInt8>], _ body: (RawSpan) throws -> Int?) throws -> Bool {
    var buffer: [UInt8] = []
    do {
        for piece in pieces {
            buffer += piece
            while !buffer.isEmpty, let count = try body(buffer.span.bytes) {
                precondition((1...buffer.count).contains(count))
                buffer.removeFirst(count)
            }
        }
    } catch is Upgraded {
        return true
    }
    return false
}

/// A message in a few words, which llhttp.js says in the same way.
private struct Summary: CustomStringConvertible {
    let name: String
    let fields: Int
    var length = 0
    var sum = 0
    var trailers = 0

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
