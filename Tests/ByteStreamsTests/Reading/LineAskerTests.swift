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

    /// How the reading of one text ended: its lines, and the error.
    private struct Outcome: Equatable {
        var lines: [String] = []
        var error: String?
        var left = ""
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
        of text: String, inPieces size: Int, _ read: (ByteStream, Lines) -> Future<Void>
    ) -> Outcome {
        var outcome = Outcome()
        withStream { stream, transport, loop in
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
