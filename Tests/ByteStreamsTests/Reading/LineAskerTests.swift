import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct LineAskerTests {
    private static let texts = [
        "one\n", "one\r\n", "\n", "\r\n", "\r", "one", "one\rtwo\n", "one\ntwo\n", "three\nab\n",
        "one\r\ntwo", "\n\n\r\n", "eleven chars\n", "ten chars!\r\n", "ten chars!\n",
        "ten chars!\r",
    ]

    private static let longTexts = [
        String(repeating: "x", count: 100) + "\n", "a\ntwelve chars!\nb\nthirteen char", "0123456789\r\r\n",
    ]

    /// How the reading of one text ended: its lines, and the error.
    private struct Outcome: Equatable {
        var lines: [String] = []
        var error: String?
        var left = ""
        var longLines = 0
    }

    @Test(
        "a for loop gets the lines that readLine gets, however the bytes are split",
        arguments: texts, [1, 2, 3, 100])
    func sameLines(text: String, size: Int) {
        let expected = outcome(of: text, inPieces: size) { stream, lines in
            Future<Void>.loopOfLines(stream, lines, limit: 10)
        }
        let seen = outcome(of: text, inPieces: size) { stream, lines in
            Future(on: stream.loop) {
                for try await line in stream.lines(limit: 10) { lines.add(line) }
            }
        }
        #expect(seen == expected)
    }

    @Test(
        "lines over the limit are cut or skipped, and counted, however the bytes are split and the lines are read",
        arguments: texts + longTexts, [1, 2, 3, 7, 100])
    func longLines(text: String, size: Int) {
        for way in [LongLines.cut, .skip] {
            // By bytes, since a carriage return and a line feed are one character.
            let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
            var whole = lines.enumerated().map { index, line in
                Substring(line.last == 13 && index < lines.count - 1 ? line.dropLast() : line)
            }
            if whole.last == "" { whole.removeLast() }
            var expected = Outcome()
            for line in whole {
                if line.utf8.count > 10 { expected.longLines += 1 }
                if line.utf8.count <= 10 || way == .cut { expected.lines.append(String(line.prefix(10))) }
            }
            for byTask in [false, true] {
                let seen = outcome(of: text, inPieces: size, way) { stream, lines in
                    if !byTask { return Future<Void>.loopOfLines(stream, lines, limit: 10) }
                    return Future(on: stream.loop) {
                        for try await line in stream.lines(limit: 10) { lines.add(line) }
                    }
                }
                #expect(seen == expected, "\(way), by a task: \(byTask)")
            }
        }
    }

    @Test("a read that is cancelled within a long line leaves none of it to the next")
    func cancelled() {
        var limits = StreamLimits()
        limits.longLines = .skip
        withStream(limits: limits) { stream, transport, loop in
            let first = stream.readLine(limit: 2)
            transport.deliver("long ")
            first.cancel()
            transport.deliver("line\nb\n")
            #expect(stream.readLine(limit: 2).now == Data("b"))
            #expect(stream.longLineCount == 1)
        }
    }

    @Test("lines that are there are taken without leaving the callback")
    func there() {
        withStream { stream, transport, loop in
            let first = stream.readLine()
            transport.deliver("zero\none\ntwo\nthree\n")
            #expect(first.now == Data("zero"))
            let seen = Lines()
            var isLater = false
            let body = Future(on: loop) {
                loop.submit { isLater = true }.ignoreFailure()
                for try await line in stream.lines() {
                    seen.add(line)
                    #expect(!isLater)
                    if seen.texts.count == 3 { break }
                }
            }
            loop.advance(by: .zero)
            #expect(body.succeeded && isLater)
            #expect(seen.texts == ["one", "two", "three"])
        }
    }

    @Test("a negative limit fails with the text of readLine")
    func negative() {
        withStream { stream, transport, loop in
            let body = Future(on: loop) { for try await _ in stream.lines(limit: -1) {} }
            loop.advance(by: .zero)
            #expect(body.complaint == "readLine was given a limit of -1; give zero or more")
        }
    }

    @Test("a line over the limit that is there already fails as with readLine, and can still be read")
    func tooLong() {
        withStream { stream, transport, loop in
            let first = stream.readLine(limit: 2)
            transport.deliver("a\nlong line\n")
            #expect(first.now == Data("a"))
            let body = Future(on: loop) { for try await _ in stream.lines(limit: 2) {} }
            loop.advance(by: .zero)
            #expect(body.streamError == .limitExceeded(limit: 2))
            #expect(stream.readLine(limit: 100).now == Data("long line"))
        }
    }

    @Test("a line that comes whole keeps no more memory than it needs")
    func memory() {
        withStream { stream, transport, loop in
            var line = Data()
            let body = Future(on: loop) { for try await next in stream.lines() { line = next } }
            loop.advance(by: .zero)
            transport.deliver("a line of its own\r\n")
            loop.advance(by: .zero)
            #expect(line == Data("a line of its own".utf8))
            #expect(line.startIndex == 0)
            #expect(!body.isCompleted)
            body.cancel()
            loop.advance(by: .zero)
        }
    }

    private func outcome(
        of text: String, inPieces size: Int, _ longLines: LongLines = .fail,
        _ read: (ByteStream, Lines) -> Future<Void>
    ) -> Outcome {
        var outcome = Outcome()
        var limits = StreamLimits()
        limits.longLines = longLines
        withStream(limits: limits) { stream, transport, loop in
            let lines = Lines()
            let done = read(stream, lines)
            loop.advance(by: .zero)
            var rest = Substring(text)
            while !rest.isEmpty {
                transport.deliver(String(rest.prefix(size)))
                rest = rest.dropFirst(size)
                loop.advance(by: .zero)
            }
            transport.deliverEnd()
            loop.advance(by: .zero)
            outcome.lines = lines.texts
            outcome.longLines = stream.longLineCount
            outcome.error = done.error.map { "\($0)" }
            #expect(done.isCompleted)
            let left = stream.readToEnd()
            loop.advance(by: .zero)
            outcome.left = left.now.map { String(decoding: $0, as: UTF8.self) } ?? "?"
        }
        return outcome
    }
}

private final class Lines {
    private(set) var texts: [String] = []

    func add(_ line: Data) {
        #expect(line.startIndex == 0)
        texts.append(String(decoding: line, as: UTF8.self))
    }
}

extension Future where Value == Void {
    /// Reads line after line by `readLine`, up to the end.
    fileprivate static func loopOfLines(_ stream: ByteStream, _ lines: Lines, limit: Int) -> Future<Void> {
        stream.readLine(limit: limit).flatMap { line in
            guard let line else { return stream.loop.succeeded() }
            lines.add(line)
            return loopOfLines(stream, lines, limit: limit)
        }
    }
}
