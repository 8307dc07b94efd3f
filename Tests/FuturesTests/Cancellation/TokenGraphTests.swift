import Futures
import TestSupport
import Testing

/// The ways to combine a token with another one, a hundred thousand times.
enum TokenGraph: String, CaseIterable, CustomTestStringConvertible {
    case chainOfAny, chainOfAll, chainOfBoth, sharedAny, sharedAll, sharedBoth, wideAny, wideAll

    var testDescription: String { rawValue }

    /// Returns a token that is cancelled when those of both sources are, at the latest.
    func token(_ a: CancellationToken, _ b: CancellationToken, _ count: Int) -> CancellationToken {
        switch self {
        case .wideAny: return .any(of: (0..<count).map { $0 % 2 == 0 ? a : b })
        case .wideAll: return .all(of: (0..<count).map { $0 % 2 == 0 ? a : b })
        default: return (0..<count).reduce(a) { step($0, b, $1) }
        }
    }

    private func step(_ token: CancellationToken, _ other: CancellationToken, _ index: Int)
        -> CancellationToken
    {
        switch self {
        case .chainOfAny: token || other
        case .chainOfAll: token && other
        case .chainOfBoth: index % 2 == 0 ? token || other : other && token
        case .sharedAny: .any(of: [token, token, other])
        case .sharedAll: .all(of: [token, token, other])
        default: (token || other) && (other || token)
        }
    }

    /// Whether the first source is enough.
    var isAny: Bool { self == .chainOfAny || self == .sharedAny || self == .wideAny }
}

struct TokenGraphTests {
    @Test(
        "tokens of tokens take linear time and no stack: to make, look at, observe, cancel and release",
        arguments: TokenGraph.allCases, [false, true])
    func graph(graph: TokenGraph, isReleased: Bool) throws {
        try onSmallStack(.virtual) { loop in
            var (a, b) = (CancellationSource(on: loop), CancellationSource(on: loop))
            // Is released before anything has ended.
            _ = graph.token(a.token, b.token, largeCount)
            let seen = Record()
            var token = graph.token(a.token, b.token, largeCount)
            #expect(!token.isCancelled)
            token.onCancel { seen.add("cancelled") }
            let promise = loop.makePromise(of: Int.self)
            let derived = promise.future.map(token: token) { $0 }
            if isReleased {
                token = .none
                (a, b) = (CancellationSource(on: loop), CancellationSource(on: loop))
                #expect(derived.isCompleted == false)
            } else {
                a.cancel()
                if graph != .sharedBoth && graph != .chainOfBoth { #expect(token.isCancelled == graph.isAny) }
                b.cancel()
                #expect(token.isCancelled && derived.isCompleted)
            }
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == (isReleased ? [] : ["cancelled"]))
        }
    }

    @Test("what the tokens of one source cancel ends in the order in which it began")
    func order() throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (CancellationSource(on: loop), CancellationSource(on: loop))
            let seen = Record()
            let late = a.token && b.token
            let tokens = [a.token, a.token || b.token, late, (a.token || b.token) && a.token, a.token]
            b.cancel()
            for (index, token) in (tokens + tokens.reversed()).enumerated() where !token.isCancelled {
                token.onCancel { seen.add(index) }
            }
            a.cancel()
            try settle(loop)
            let waiting = (tokens + tokens.reversed()).indices.filter { $0 % 9 != 1 && $0 != 8 }
            #expect(seen.entries == waiting.map { "\($0)" })
        }
    }

    @Test("a combined token that nobody holds leaves nothing behind in one that lives longer")
    func noGrowth() throws {
        try withLoop(.virtual) { loop in
            let source = CancellationSource(on: loop)
            let empty = loop.statistics.futures
            for _ in 0..<1000 {
                let other = CancellationSource(on: loop)
                let tokens = [source.token || other.token, source.token && other.token]
                for token in tokens { token.onCancel {}.unregister() }
                #expect(!(tokens[0] && tokens[1]).isCancelled)
            }
            #expect(loop.statistics.futures == empty)
        }
    }
}
