import Foundation
import Testing

/// Nothing of the public surface that takes a future, a token or an object with a loop is left out of the tests of what
/// belongs to another loop.
struct ForeignTakersTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of what is tested elsewhere, or takes any loop's.
    private static let others = [
        // RemoteMisuseTests and WorldMisuseTests
        "EventLoop: func run<Value>(_ body", "EventLoop: func wait<Value>", "World: func run<Value>(until",
        // These wait on the loop of the future, whichever it is, on the thread of that loop.
        "Future: func flatMap<NewValue>(on context: RemoteContext", "RemotePromise: func complete(using",
        "Future: func flatMapError(including policy: ErrorScope = .failure, on context: RemoteContext",
        // These have no loop of their own.
        "DisposeBag: func add<Value>(_ future", "TypedDeferred: func transform", "TypedDeferred: init(_ make",
        // These belong to the loop of the context.
        "TLSConnection: static func connect", "TLSServer: static func listen(host",
        // These pass on what they get.
        "FutureCompletion: case using", "TLSIdentity.Key: case elsewhere",
        "SocketServer: static func listen<",
        "TCPServerGroup: static func listen<", "TLSServer: static func listen<",
        "SimulatedHost: var programs",
    ]

    /// The words of a test's line that stand one after another in `line`, with anything at each `…`.
    private func covers(_ words: String, _ line: String) -> Bool {
        var rest = Substring(line)
        for (index, part) in words.split(separator: " … ").enumerated() {
            guard let range = rest.range(of: part), index > 0 || range.lowerBound == rest.startIndex else {
                return false
            }
            rest = rest[range.upperBound...]
        }
        return true
    }

    /// Whether `line` of the public surface takes one, as an argument or from a closure. Its result does not count.
    private func takes(_ line: String) -> Bool {
        let result = line.range(of: #"\) (async |throws |rethrows )*-> [^()]*$"#, options: .regularExpression)
        let arguments = result.map { line[..<$0.lowerBound] } ?? line[...]
        let holder = #"(Future|TypedFuture|FutureCompletion|Deferred|TypedDeferred)<|C\b"#
        let object = #"(ByteStream|TLSContext|File|Directory|CancellationToken)\??( =|,|$)"#
        return [
            "-> (\(holder))", #"[:\[(<] ?(repeat )?\[?"# + "(\(holder))", ": " + object,
            "-> Future<TLSContext", #"cascade\(to"#, "Sequence<CancellationToken>",
        ]
        .contains { arguments.range(of: $0, options: .regularExpression) != nil }
            && line.firstMatch(of: /^(#|final class|protocol)|: let |\{ get \}/) == nil
    }

    @Test("each public member that takes what may belong to another loop is tested")
    func complete() throws {
        var covered = Self.others
        for file in [
            "FuturesTests/Diagnostics/ForeignFutureTests", "FuturesTests/Cancellation/ForeignTokenTests",
            "UVFuturesTests/Sockets/ForeignLoopTests", "TLSStreamsTests/Connection/ForeignLoopTests",
        ] {
            let text = try String(contentsOf: Self.tests.appending(path: file + ".swift"), encoding: .utf8)
            covered += text.matches(of: /"([A-Za-z.]+: [^"]*|func combine[^"]*)"/).map { String($0.1) }
        }
        covered += RegisteringMethod.allCases.flatMap {
            ["Future: func \($0.rawValue)(", "Future: func \($0.rawValue)<"]
        }
        let surface = try String(contentsOf: Self.tests.appending(path: "Checks/api.txt"), encoding: .utf8)
        let lines = surface.split(separator: "\n").map(String.init).filter(takes)
        #expect(lines.count > 150, "\(lines.count) lines were found")
        for line in lines where !covered.contains(where: { covers($0, line) }) {
            Issue.record("what of another loop it does is not tested: \(line)")
        }
        for words in covered
        where !surface.split(separator: "\n").contains(where: { covers(words, String($0)) }) {
            guard !words.hasPrefix("Future: func ") else { continue }
            Issue.record("this is not of the public surface any more: \(words)")
        }
    }
}
