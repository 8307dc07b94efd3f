import ByteStreams
import FoundationEssentials
import Futures
import TestSupport
import Testing

struct ForeignBytesTests {
    /// What a read gives.
    private enum Outcome: Equatable {
        case bytes(Data)
        case end
        case failure(StreamError)
    }

    private enum Read {
        case exactly(Int)
        case until(Data, limit: Int)
        case line(limit: Int)
        case toEnd(limit: Int)

        init(_ random: inout SeededGenerator) {
            let limit = random.below(random.below(10) == 0 ? 200 : 12)
            switch random.below(4) {
            case 0: self = .exactly(limit)
            case 1: self = .until(Data(random.text(1 + random.below(3))), limit: limit)
            case 2: self = .line(limit: limit)
            default: self = .toEnd(limit: limit)
            }
        }

        /// Begins it. What is returned tells the outcome once it is there.
        func start(_ stream: ByteStream) -> () -> Outcome? {
            switch self {
            case .exactly(let count): outcome(stream.read(exactly: count)) { $0.map { .bytes($0) } ?? .end }
            case .until(let delimiter, let limit):
                outcome(stream.read(until: delimiter, limit: limit)) { $0.map { .bytes($0) } ?? .end }
            case .line(let limit): outcome(stream.readLine(limit: limit)) { $0.map { .bytes($0) } ?? .end }
            case .toEnd(let limit): outcome(stream.readToEnd(limit: limit)) { .bytes($0) }
            }
        }

        private func outcome<Value>(
            _ future: Future<Value>, _ convert: @escaping (Value) -> Outcome
        ) -> () -> Outcome? {
            {
                switch future.ignoreFailure().result {
                case nil: nil
                case .success(let value): convert(value)
                case .failure(let error): .failure(error as! StreamError)
                }
            }
        }

        /// What it has to give when `rest` is all that will ever come, and how much of that it takes.
        func expected(_ rest: Data) -> (Outcome, taken: Int) {
            switch self {
            case .exactly(let count):
                if count <= rest.count { return (.bytes(rest.prefix(count)), count) }
                return (rest.isEmpty ? .end : .failure(.unexpectedEnd(received: rest)), rest.count)
            case .until(let delimiter, let limit):
                let end = rest.indices.first { rest[$0...].starts(with: delimiter) }
                if let end, end <= limit { return (.bytes(rest.prefix(end)), end + delimiter.count) }
                // The last bytes may be the beginning of a delimiter.
                let begun = (0..<delimiter.count).last { rest.suffix($0) == delimiter.prefix($0) }!
                if end != nil || rest.count - begun > limit {
                    return (.failure(.limitExceeded(limit: limit)), 0)
                }
                return (rest.isEmpty ? .end : .failure(.unexpectedEnd(received: rest)), rest.count)
            case .line(let limit):
                guard let end = rest.firstIndex(of: 10) else {
                    if rest.count > limit { return (.failure(.limitExceeded(limit: limit)), 0) }
                    return (rest.isEmpty ? .end : .bytes(rest), rest.count)
                }
                let line = rest.prefix(end).last == 13 ? rest.prefix(end - 1) : rest.prefix(end)
                return line.count <= limit
                    ? (.bytes(line), end + 1) : (.failure(.limitExceeded(limit: limit)), 0)
            case .toEnd(let limit):
                return rest.count <= limit
                    ? (.bytes(rest), rest.count) : (.failure(.limitExceeded(limit: limit)), 0)
            }
        }
    }

    @Test(
        "whatever comes, however it is cut, each read gives what a look at all of it says, or the reason why not"
    )
    func anything() throws {
        let count = isSoaking ? largeCount : largeCount / 20
        var random = SeededGenerator()
        var (results, ends, refusals) = (0, 0, 0)
        for _ in 0..<count {
            let input = random.message()
            try withStream { stream, transport, loop in
                var (rest, unsent) = (input, input)
                while true {
                    let read = Read(&random)
                    let (expected, taken) = read.expected(rest)
                    let outcome = read.start(stream)
                    while outcome() == nil {
                        let size = min(unsent.count, 1 + random.below(random.below(4) == 0 ? 100 : 4))
                        if unsent.isEmpty {
                            transport.deliverEnd()
                        } else {
                            transport.deliver(Data(unsent.prefix(size)))
                        }
                        unsent = Data(unsent.dropFirst(size))
                    }
                    try #require(outcome() == expected, "\(read) of \(Array(rest))")
                    rest = Data(rest.dropFirst(taken))
                    switch expected {
                    case .failure(.limitExceeded):
                        refusals += 1
                        // Nothing of it is lost.
                        guard let first = rest.first else { break }
                        try #require(stream.read(exactly: 1).now == Data([first]))
                        rest = Data(rest.dropFirst())
                    case .failure, .end: ends += 1
                    case .bytes: results += 1
                    }
                    if rest.isEmpty, taken == 0 || input.isEmpty { break }
                }
            }
        }
        #expect(min(results, ends, refusals) > count / 10, "\(results) \(ends) \(refusals)")
    }
}

extension SeededGenerator {
    /// Few letters, so that delimiters come and half come.
    fileprivate mutating func text(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in [10, 13, 0, 255, 65][below(5)] }
    }

    /// A message that is changed in some places, letters that delimit much, or random bytes.
    fileprivate mutating func message() -> Data {
        switch below(4) {
        case 0: return bytes(below(40))
        case 1: return Data(text(below(60)))
        default:
            let messages = [
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "+OK\r\n$5\r\nhello\r\n", "a\nbb\n\nccc", "\r\r\n\n\r",
            ]
            var message = Array(messages[below(messages.count)].utf8)
            for _ in 0..<below(5) {
                let place = below(message.count + 1)
                switch below(3) {
                case 0: message.insert(contentsOf: text(1 + below(3)), at: place)
                case 1 where place < message.count: message.remove(at: place)
                case 2 where place < message.count: message[place] = UInt8(below(256))
                default: break
                }
            }
            return Data(message)
        }
    }
}
