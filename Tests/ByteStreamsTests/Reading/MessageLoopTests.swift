import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// What `forEachMessage` does besides what `MessagesTests` hold of it.
struct MessageLoopTests {
    @Test("the bytes of a message that comes alone are lent where the transport has them")
    func lent() {
        withStream { stream, transport, loop in
            var lent: [Int] = []
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { range, bytes in
                #expect(bytes.byteCount == range.count + 1)
                lent.append(address(bytes))
            }
            loop.advance(by: .zero)
            let data = Data(String(repeating: "x", count: 100) + ";")
            transport.deliver(data)
            transport.deliver(data)
            #expect(lent == [address(data.bytes), address(data.bytes)])
            #expect(transport.spansLent == 2)
            transport.deliverEnd()
            #expect(done.succeeded)
        }
    }

    @Test("messages that come together are passed on within one callback, from one block")
    func together() {
        withStream { stream, transport, loop in
            var lent: [Int] = []
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, bytes in
                if lent.isEmpty { loop.later { lent.append(0) } }
                lent.append(address(bytes))
            }
            loop.advance(by: .zero)
            let data = Data(String(repeating: "x;", count: 50))
            transport.deliver(data)
            #expect(lent == (0..<50).map { address(data.bytes) + 2 * $0 } + [0])
            done.cancel()
        }
    }

    /// What a body does while messages wait behind its own.
    enum Doing: CaseIterable {
        case receives, receivesAsMuchAsIsTaken, receivesAPart, stops, cancels, aborts, throwsAnError
    }

    @Test(
        "each message is passed on once, whatever the body does to its own stream", arguments: Doing.allCases)
    func reentrance(_ doing: Doing) throws {
        struct Stop: Error {}
        try withStream { stream, transport, loop in
            var seen: [String] = []
            var ending: Future<Void>?
            let decoder = SemicolonDecoder()
            let done = stream.forEachMessage(decodedBy: decoder) {
                (range, bytes) throws -> Void in
                seen.append(bytes.text(range))
                guard seen == ["a"] else { return }
                switch doing {
                case .receives: transport.deliver("c;d;")
                // After these, as many bytes wait as before, and they are others.
                case .receivesAsMuchAsIsTaken: transport.deliver("c;dd")
                // After these, fewer bytes wait than before.
                case .receivesAPart: transport.deliver("c;d")
                case .stops: throw Stop()
                case .cancels: ending?.cancel()
                case .aborts: stream.abort()
                case .throwsAnError: throw CancellationError()
                }
            }
            ending = done
            loop.advance(by: .zero)
            transport.deliver("a;b;")
            switch doing {
            case .receives: #expect(seen == ["a", "b", "c", "d"])
            case .receivesAsMuchAsIsTaken:
                #expect(seen == ["a", "b", "c"])
                transport.deliver(";")
                #expect(seen == ["a", "b", "c", "dd"])
            case .receivesAPart:
                #expect(seen == ["a", "b", "c"])
                transport.deliver(";")
                #expect(seen == ["a", "b", "c", "d"])
            case .stops, .cancels, .throwsAnError:
                #expect(seen == ["a"])
                let rest = try stream.read().result?.get()
                #expect(rest == Data("b;"))
            case .aborts: #expect(seen == ["a"])
            }
            #expect(decoder.complaints.isEmpty)
            done.ignoreFailure().cancel()
        }
    }

    @Test("what was found before the bytes were in the buffer counts for one message")
    func early() {
        withStream { stream, transport, loop in
            var seen: [String] = []
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { range, bytes in
                seen.append(bytes.text(range))
            }
            loop.advance(by: .zero)
            transport.deliver("long;b;c")
            #expect(seen == ["long", "b"])
            transport.deliver(";ddddd;e;")
            #expect(seen == ["long", "b", "c", "ddddd", "e"])
            done.cancel()
        }
    }

    @Test("the next message waits for the future of the one before, and the peer is held back")
    func backPressure() {
        var limits = StreamLimits()
        limits.readHighWaterMark = 6
        withStream(limits: limits) { stream, transport, loop in
            var seen: [String] = []
            var promises: [Promise<Int>] = []
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { range, bytes in
                seen.append(bytes.text(range))
                promises.append(loop.makePromise())
                return promises.last!.future
            }
            loop.advance(by: .zero)
            transport.deliver("a;b;c;d;")
            #expect(seen == ["a"])
            #expect(!transport.isReading)
            for (index, expected) in ["b", "c", "d"].enumerated() {
                promises[index].succeed(1)
                loop.advance(by: .zero)
                #expect(seen.last == expected)
            }
            promises[3].succeed(1)
            loop.advance(by: .zero)
            #expect(transport.isReading)
            transport.deliverEnd()
            #expect(done.succeeded)
        }
    }

    @Test(
        "what comes alone waits for the body, too, in each way to read",
        arguments: ["chunk", "span", "message"])
    func comesAlone(_ way: String) {
        withStream { stream, transport, loop in
            var seen: [String] = []
            var promises: [Promise<Int>] = []
            func work(_ text: String) -> Future<Int> {
                seen.append(text)
                promises.append(loop.makePromise())
                return promises.last!.future
            }
            let done =
                switch way {
                case "chunk": stream.forEachChunk { work(String(decoding: $0, as: UTF8.self)) }
                case "span": stream.forEachSpan { work($0.text(0..<$0.byteCount)) }
                default:
                    stream.forEachMessage(decodedBy: SemicolonDecoder()) { range, bytes in
                        work(bytes.text(range) + ";")
                    }
                }
            loop.advance(by: .zero)
            for part in ["a;", "b;", "c;"] {
                transport.deliver(part)
                loop.advance(by: .zero)
            }
            #expect(seen == ["a;"])
            while !promises.isEmpty {
                promises.removeFirst().succeed(1)
                loop.advance(by: .zero)
            }
            #expect(seen.joined() == "a;b;c;")
            transport.deliverEnd()
            loop.advance(by: .zero)
            #expect(done.succeeded)
        }
    }

    @Test("the failure of a body's future fails the whole, and what follows stays readable")
    func futureFails() {
        withStream { stream, transport, loop in
            let promise = loop.makePromise(of: Void.self)
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in promise.future }
            loop.advance(by: .zero)
            transport.deliver("a;b;")
            promise.fail(Broken())
            loop.advance(by: .zero)
            #expect(done.error as? Broken == Broken())
            #expect(stream.read().now == Data("b;"))
        }
    }

    enum Stop: CaseIterable { case bodyThrows, cancel, close, abort }

    @Test("a body that stops the whole is not called again", arguments: Stop.allCases, ["a;b;", "a;b", "a;"])
    func stops(_ stop: Stop, _ text: String) {
        withStream { stream, transport, loop in
            var calls = 0
            var done: Future<Void>!
            done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in
                calls += 1
                switch stop {
                case .bodyThrows: throw Broken()
                case .cancel: done.cancel()
                case .close: stream.close()
                case .abort: stream.abort()
                }
            }
            loop.advance(by: .zero)
            transport.deliver(text)
            loop.advance(by: .zero)
            #expect(calls == 1)
            switch stop {
            case .bodyThrows: #expect(done.error as? Broken == Broken())
            case .cancel: #expect(done.wasCancelled)
            case .close: #expect(done.succeeded)
            case .abort: #expect(done.streamError == .connectionClosed)
            }
            if stop == .bodyThrows || stop == .cancel {
                transport.deliver("!")
                transport.deliverEnd()
                #expect(stream.readToEnd().now == Data(text.dropFirst(2) + "!"))
            }
            done = nil
        }
    }

    @Test("a body that changes the protocol reads on behind its message", arguments: ["a;line\nb;", "a;li"])
    func changesProtocol(_ text: String) {
        withStream { stream, transport, loop in
            var line: Future<Data?>!
            var done: Future<Void>!
            done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in
                done.cancel()
                line = stream.readLine()
            }
            loop.advance(by: .zero)
            transport.deliver(text)
            transport.deliver("ne\n")
            #expect(line.now == Data("line"))
            done = nil
        }
    }

    @Test("a body that waits for the whole ends it")
    func cycle() {
        withStream { stream, transport, loop in
            var done: Future<Void>!
            done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ -> Future<Void> in done }
            loop.advance(by: .zero)
            transport.deliver("a;")
            loop.advance(by: .zero)
            #expect(throws: FutureError.cycle) { try done.result?.get() }
            done = nil
        }
    }

    @Test("a message that is not complete in time ends the connection")
    func framingTimeout() {
        var limits = StreamLimits()
        limits.framingTimeout = .seconds(10)
        withStream(limits: limits) { stream, transport, loop in
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, _ in }
            loop.advance(by: .seconds(60))
            for _ in 0..<20 {
                transport.deliver("a;b")
                loop.advance(by: .seconds(5))
                transport.deliver(";")
            }
            #expect(!done.isCompleted)
            transport.deliver("a;b")
            loop.advance(by: .seconds(12))
            guard case .timedOut(.framing, _, unread: 1, _) = done.streamError else {
                Issue.record("\(String(describing: done.result))")
                return
            }
        }
    }

    private func address(_ bytes: RawSpan) -> Int {
        unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
}
