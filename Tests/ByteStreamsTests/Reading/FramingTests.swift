import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct FramingTests {
    @Test("read(exactly:) gathers bytes that come one by one, and leaves the rest")
    func exactly() {
        withStream { stream, transport, loop in
            let read = stream.read(exactly: 5)
            for byte in "abcd" {
                transport.deliver(String(byte))
                #expect(!read.isCompleted)
            }
            transport.deliver("efg")
            #expect(read.now == Data("abcde"))
            #expect(stream.read().now == Data("fg"))
        }
    }

    @Test("read(exactly: 0) completes at once with no bytes")
    func exactlyZero() {
        withStream { stream, transport, loop in
            #expect(stream.read(exactly: 0).now == Data())
            let read = stream.read(exactly: 1)
            transport.deliver("ab")
            #expect(read.now == Data("a"))
            #expect(stream.read(exactly: 0).now == Data())
            #expect(stream.read(exactly: 1).now == Data("b"))
            let end = stream.read()
            transport.deliverEnd()
            #expect(end.now == Data())
            #expect(stream.read(exactly: 0).now == Data())
        }
    }

    @Test("negative counts and limits, and an empty delimiter, fail with a text that says what to give")
    func invalidArguments() {
        withStream { stream, transport, loop in
            #expect(
                stream.read(exactly: -1).complaint
                    == "read(exactly:) was given a count of -1; give zero or more")
            #expect(
                stream.read(until: Data("x"), limit: -2).complaint
                    == "read(until:) was given a limit of -2; give zero or more")
            #expect(
                stream.read(until: Data()).complaint
                    == "read(until:) was given an empty delimiter; give at least one byte")
            #expect(
                stream.readLine(limit: -3).complaint == "readLine was given a limit of -3; give zero or more")
            #expect(
                stream.readToEnd(limit: .min).complaint
                    == "readToEnd was given a limit of \(Int.min); give zero or more")
            #expect(transport.timesStarted == 0)
        }
    }

    @Test("read(until:) excludes the delimiter and consumes it, wherever the bytes are split")
    func until() {
        let message = "aab--aaab--"
        for split in 0...message.utf8.count {
            withStream { stream, transport, loop in
                let first = stream.read(until: Data("aab--"))
                transport.deliver(Data(message.utf8.prefix(split)))
                transport.deliver(Data(message.utf8.dropFirst(split)))
                #expect(first.now == Data())
                #expect(stream.read(until: Data("aab--")).now == Data("a"))
            }
        }
    }

    @Test("read(until:) accepts a delimiter that is a slice")
    func delimiterIsSlice() {
        withStream { stream, transport, loop in
            let read = stream.read(until: Data("xx\r\n").dropFirst(2))
            transport.deliver("GET\r\n")
            #expect(read.now == Data("GET"))
        }
    }

    @Test("read(until:) fails when more than the limit comes first, and the bytes stay readable")
    func untilLimit() {
        withStream { stream, transport, loop in
            let atLimit = stream.read(until: Data("\r\n"), limit: 3)
            transport.deliver("abc\r")
            #expect(!atLimit.isCompleted)
            transport.deliver("\n")
            #expect(atLimit.now == Data("abc"))
            let above = stream.read(until: Data("\r\n"), limit: 3)
            transport.deliver("abcd")
            #expect(above.streamError == .limitExceeded(limit: 3))
            transport.deliver("\r\n")
            #expect(stream.read(until: Data("\r\n"), limit: 3).streamError == .limitExceeded(limit: 3))
            #expect(stream.read(until: Data("\r\n"), limit: 4).now == Data("abcd"))
            let empty = stream.read(until: Data("\n"), limit: 0)
            transport.deliver("\n")
            #expect(empty.now == Data())
        }
    }

    @Test(
        "messages that come together or alone are those that come byte by byte",
        arguments: ["\n", "\r\n", "aa", "aab--"])
    func untilWhole(delimiter: String) {
        let texts = [
            "", "a", "aa", "aaa", "aaaa", "aab--", "aaab--", "aab--aab--", "x\n", "x\r\n", "x\ny\n",
            "\r\n\r\n",
            "aab--x", "xaab--", "xxxx\n",
        ]
        for (text, limit) in texts.flatMap({ text in [3, 100].map { (text, $0) } }) {
            func outcomes(_ pieces: [Data]) -> [String] {
                var outcomes: [String] = []
                withStream { stream, transport, loop in
                    var read = stream.read(until: Data(delimiter.utf8), limit: limit)
                    func note() {
                        while let result = read.result {
                            outcomes.append(
                                "\(result.map { $0.map { String(decoding: $0, as: UTF8.self) } })")
                            if (try? result.get()) == nil { return }
                            read = stream.read(until: Data(delimiter.utf8), limit: limit)
                        }
                    }
                    for piece in pieces where !read.isCompleted {
                        transport.deliver(piece)
                        note()
                    }
                    if !read.isCompleted { transport.deliverEnd() }
                    note()
                    read.ignoreFailure()
                }
                return outcomes
            }
            let whole = outcomes([Data(text.utf8)])
            #expect(whole == outcomes(text.utf8.map { Data([$0]) }), "\(text.debugDescription)")
        }
    }

    enum MessageRead: CaseIterable {
        case exactly, until, line

        func start(_ stream: ByteStream) -> Future<Data?> {
            switch self {
            case .exactly: stream.read(exactly: 4)
            case .until: stream.read(until: Data("\r\n"))
            case .line: stream.readLine()
            }
        }
    }

    @Test(
        "an end between two messages is nil, pending or not, again and again", arguments: MessageRead.allCases
    )
    func endBetweenMessages(_ read: MessageRead) {
        for isEarly in [true, false] {
            withStream { stream, transport, loop in
                let first = read.start(stream)
                transport.deliver("ab\r\n")
                #expect(first.now == Data(read == .exactly ? "ab\r\n" : "ab"))
                if isEarly { transport.deliverEnd() }
                let second = read.start(stream)
                if !isEarly { transport.deliverEnd() }
                #expect(second.now == .some(nil))
                #expect(read.start(stream).now == .some(nil))
                #expect(stream.read().now == Data())
            }
        }
    }

    @Test("an end inside a message hands over what came of it", arguments: [MessageRead.exactly, .until])
    func endInsideMessage(_ read: MessageRead) {
        for isEarly in [true, false] {
            withStream { stream, transport, loop in
                if isEarly { transport.deliver("abc") }
                let future = read.start(stream)
                if !isEarly { transport.deliver("abc") }
                transport.deliverEnd()
                #expect(future.streamError == .unexpectedEnd(received: Data("abc")))
                #expect(stream.read().now == Data())
                #expect(read.start(stream).now == .some(nil))
            }
        }
    }

    @Test("readLine strips LF or CRLF, keeps other carriage returns, and returns an unterminated last line")
    func lines() {
        let text = "one\r\n\ntwo\n\r\n\r\r\nlast\r"
        let expected = ["one", "", "two", "", "\r", "last\r"]
        for split in 0...text.utf8.count {
            withStream { stream, transport, loop in
                var lines: [String] = []
                func next() -> Future<Void> {
                    stream.readLine().flatMap { line in
                        guard let line else { return loop.succeeded() }
                        #expect(line.startIndex == 0)
                        lines.append(String(decoding: line, as: UTF8.self))
                        return next()
                    }
                }
                let done = next()
                loop.advance(by: .zero)
                transport.deliver(Data(text.utf8.prefix(split)))
                transport.deliver(Data(text.utf8.dropFirst(split)))
                transport.deliverEnd()
                #expect(done.now != nil)
                #expect(lines == expected)
                #expect(stream.readLine().now == .some(nil))
            }
        }
    }

    @Test("the limit of readLine does not count what is stripped")
    func lineLimit() {
        withStream { stream, transport, loop in
            for ending in ["\n", "\r\n"] {
                let line = stream.readLine(limit: 3)
                for byte in ("abc" + ending).utf8 {
                    #expect(!line.isCompleted)
                    transport.deliver(Data([byte]))
                }
                #expect(line.now == Data("abc"))
            }
            let above = stream.readLine(limit: 3)
            transport.deliver("abc\r")
            #expect(!above.isCompleted)
            transport.deliver("d")
            #expect(above.streamError == .limitExceeded(limit: 3))
            #expect(stream.read().now == Data("abc\rd"))
            let last = stream.readLine(limit: 3)
            transport.deliver("xyz\r")
            #expect(!last.isCompleted)
            transport.deliverEnd()
            #expect(last.streamError == .limitExceeded(limit: 3))
            #expect(stream.readLine(limit: 4).now == Data("xyz\r"))
            #expect(stream.readLine(limit: 0).now == .some(nil))
        }
    }

    @Test("readToEnd returns everything, and nothing at the end")
    func toEnd() {
        withStream { stream, transport, loop in
            let all = stream.readToEnd()
            for number in 0..<1000 { transport.deliver("\(number),") }
            #expect(!all.isCompleted)
            transport.deliverEnd()
            #expect(all.now == Data((0..<1000).map { "\($0)," }.joined()))
            #expect(stream.readToEnd().now == Data())
        }
    }

    @Test("readToEnd fails above its limit, and the bytes stay readable")
    func toEndLimit() {
        withStream { stream, transport, loop in
            let all = stream.readToEnd(limit: 4)
            transport.deliver("abcd")
            #expect(!all.isCompleted)
            transport.deliver("e")
            #expect(all.streamError == .limitExceeded(limit: 4))
            transport.deliverEnd()
            #expect(stream.readToEnd(limit: 4).streamError == .limitExceeded(limit: 4))
            #expect(stream.readToEnd(limit: 5).now == Data("abcde"))
        }
    }

    @Test("reads of all kinds follow each other in one stream")
    func mixed() {
        withStream { stream, transport, loop in
            let length = stream.read(exactly: 2)
            transport.deliver("05helloGET / HTTP/1.1\r\nHost: a\r\n\r\nbody|tail")
            transport.deliverEnd()
            #expect(length.now == Data("05"))
            #expect(stream.read(exactly: 5).now == Data("hello"))
            #expect(stream.readLine().now == Data("GET / HTTP/1.1"))
            #expect(stream.readLine().now == Data("Host: a"))
            #expect(stream.readLine().now == Data(""))
            #expect(stream.read(until: Data("|")).now == Data("body"))
            #expect(stream.readToEnd().now == Data("tail"))
        }
    }
}
