import Foundation
import Testing

/// Requests at random, beside what two other parsers make of them: llhttp of Node.js, and h11 of Python.
@Suite(.enabled("needs node, and python3 with h11") { Peer.areThere })
struct PeerTests {
    /// `SOAK=1` takes more requests, and `SEED` others.
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["SOAK"] == "1" ? 200_000 : 10_000
    private static let seed = environment["SEED"].flatMap { UInt64($0) } ?? 11

    @Test func `where neither llhttp nor h11 says the same, there is a reason`() throws {
        let requests = Self.requests()
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(requests.map { "request\t\t\(Corpus.escaped($0))\n" }.joined().utf8).write(to: file)
        let (llhttp, h11) = (try Peer.llhttp.verdicts(file), try Peer.h11.verdicts(file))
        try #require(llhttp.count == requests.count && h11.count == requests.count)
        var accepted = 0
        for (index, request) in requests.enumerated() {
            let ours = verdict(.request, [request[...]])
            if ours.hasPrefix("ok") { accepted += 1 }
            guard let (place, kind) = difference(ours, llhttp[index]),
                difference(ours, h11[index])?.place == place
            else { continue }
            #expect(
                Corpus.alone.contains { Array($0.prefix(2)) == kind },
                "seed \(Self.seed): \(Corpus.escaped(request)): \(ours), llhttp \(llhttp[index]), h11 \(h11[index])"
            )
        }
        #expect((Self.count / 10..<Self.count / 2).contains(accepted))
    }

    /// Returns where the first difference is, among the messages, and what it is: the word for what is said here, and the
    /// one for what is said there. `nil` if both say the same, or refuse the same request.
    private func difference(_ ours: String, _ theirs: String) -> (place: Int, kind: [String])? {
        let (ours, theirs) = (parts(ours), parts(theirs))
        let place = zip(ours, theirs).prefix { $0 == $1 }.count
        guard place < max(ours.count, theirs.count) else { return nil }
        let here = place < ours.count ? ours[place] : "..."
        let there = place < theirs.count ? theirs[place] : "..."
        // llhttp reads nothing behind the last request of a connection.
        if there == "refused HPE_CLOSED_CONNECTION" { return nil }
        switch (here.hasPrefix("refused"), there.hasPrefix("refused")) {
        case (true, true): return nil
        case (true, false): return (place, [verdictWord(here), "ok"])
        case (false, true):
            return (place, here.hasSuffix("...") ? ["...", "refused"] : ["ok", verdictWord(there)])
        case (false, false): return (place, ["ok", "ok"])
        }
    }

    /// The messages in a verdict, and behind them why the next one was refused.
    private func parts(_ verdict: String) -> [String] {
        guard verdict.hasPrefix("refused") else { return verdict.dropFirst(3).components(separatedBy: " | ") }
        let halves = verdict.components(separatedBy: " after ")
        return halves.dropFirst().flatMap { $0.components(separatedBy: " | ") } + [halves[0]]
    }

    /// Requests of the grammar, as they are or mutated, and mutated ones of the corpus.
    private static func requests() -> [[UInt8]] {
        var grammar = RequestGrammar(random: SplitMix(state: seed))
        let messages = Corpus.messages.filter { $0.kind == .request && $0.bytes.count < 2000 }
        return (0..<count).map { index in
            let isMade = index % 3 > 0
            var bytes =
                isMade
                ? Corpus.unescaped(grammar.requests()) : messages.randomElement(using: &grammar.random)!.bytes
            if index % 3 == 1 { return bytes }
            for _ in 0..<Int.random(in: 1...2, using: &grammar.random) {
                mutate(&bytes, messages.randomElement(using: &grammar.random)!.bytes, &grammar.random)
            }
            return bytes
        }
    }
}

/// Another parser, which a script asks.
private struct Peer {
    static let llhttp = Peer(program: "node", script: "llhttp.js")
    static let h11 = Peer(program: "/usr/bin/python3", script: "h11-verdicts.py")
    static let areThere =
        (try? llhttp.run(["-e", ""])) != nil && (try? h11.run(["-c", "import h11"])) != nil

    let program: String
    let script: String

    /// Returns what it makes of each message in a file of the format of the corpus.
    func verdicts(_ file: URL) throws -> [String] {
        try run([Corpus.file(script).path, file.path]).split(separator: "\n").map(String.init)
    }

    private func run(_ arguments: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return String(decoding: said, as: UTF8.self)
    }
}
