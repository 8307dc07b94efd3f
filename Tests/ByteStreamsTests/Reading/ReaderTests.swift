import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

/// A read is given up after any number of bytes of a message; the reads that follow return exactly what was sent.
struct ReaderTests {
    enum Kind: CaseIterable {
        case next, exactly, until, line, toEnd

        func start(_ stream: ByteStream) -> Future<Data> {
            switch self {
            case .next: stream.read()
            case .exactly: stream.read(exactly: 64).map { $0 ?? Data() }
            case .until: stream.read(until: Data("\r\n")).map { $0 ?? Data() }
            case .line: stream.readLine().map { $0 ?? Data() }
            case .toEnd: stream.readToEnd()
            }
        }

        /// How many of the 64 bytes the result has.
        var size: Int { self == .until || self == .line ? 62 : 64 }
    }

    enum Interruption: CaseIterable {
        case cancel, timeout

        func interrupt(_ read: Future<Data>, on loop: EventLoop) -> Future<Data> {
            switch self {
            case .cancel: read
            case .timeout: read.timeout(after: .milliseconds(10))
            }
        }

        func apply(to read: Future<Data>, on loop: EventLoop) {
            switch self {
            case .cancel: read.cancel()
            case .timeout: loop.advance(by: .milliseconds(10))
            }
        }

        func isReason(of error: (any Error)?) -> Bool {
            switch self {
            case .cancel: error is CancellationError
            case .timeout: error as? FutureError == .timedOut(after: .milliseconds(10))
            }
        }
    }

    static var message: Data { Data((0..<62).map { UInt8(ascii: "0") + $0 } + Array("\r\n".utf8)) }

    @Test(
        "a framing read that is given up at any byte loses nothing",
        arguments: Kind.allCases, Interruption.allCases)
    func losesNothing(_ kind: Kind, _ interruption: Interruption) throws {
        for position in 0...64 {
            for step in [1, 7, 64] {
                try withStream { stream, transport, loop in
                    let read = interruption.interrupt(kind.start(stream), on: loop)
                    deliver(Self.message.prefix(position), step, transport)
                    interruption.apply(to: read, on: loop)
                    var received = try outcome(of: read, kind, interruption, position)
                    deliver(Self.message.dropFirst(position), step, transport)
                    if kind == .toEnd { transport.deliverEnd() }
                    while received.count < kind.size {
                        let more = kind.start(stream)
                        loop.advance(by: .zero)
                        let data = try #require(more.now)
                        try #require(!data.isEmpty)
                        received.append(data)
                    }
                    #expect(received == Self.message.prefix(kind.size))
                }
            }
        }
    }

    @Test("other reads go on where one was given up", arguments: Kind.allCases, Interruption.allCases)
    func otherReadsGoOn(_ kind: Kind, _ interruption: Interruption) {
        for position in 0..<64 where kind != .next || position == 0 {
            withStream { stream, transport, loop in
                let read = interruption.interrupt(kind.start(stream), on: loop)
                deliver(Self.message.prefix(position), 5, transport)
                interruption.apply(to: read, on: loop)
                #expect(interruption.isReason(of: read.error))
                #expect(stream.read(exactly: position).now == Self.message.prefix(position))
                let rest = stream.readLine()
                deliver(Self.message.dropFirst(position), 5, transport)
                #expect(rest.now == (position < 62 ? Self.message[position..<62] : Data()))
            }
        }
    }

    @Test(
        "reads given up again and again at every byte add up to the message", arguments: Interruption.allCases
    )
    func againAndAgain(_ interruption: Interruption) {
        for kind in Kind.allCases where kind != .next {
            withStream { stream, transport, loop in
                for byte in Self.message.dropLast() {
                    let read = interruption.interrupt(kind.start(stream), on: loop)
                    transport.deliver(Data([byte]))
                    interruption.apply(to: read, on: loop)
                    #expect(interruption.isReason(of: read.error))
                }
                let read = kind.start(stream)
                transport.deliver(Self.message.suffix(1))
                if kind == .toEnd { transport.deliverEnd() }
                loop.advance(by: .zero)
                #expect(read.now == Self.message.prefix(kind.size))
            }
        }
    }

    @Test("code that runs within the failure of a read may read again", arguments: [false, true])
    func readsAgain(isLine: Bool) {
        withStream { stream, transport, loop in
            var second: Future<Data?>?
            stream.readLine(limit: 3).whenFailure(on: .immediate) { error in
                #expect(error as? StreamError == .limitExceeded(limit: 3))
                second = isLine ? stream.readLine() : stream.read(exactly: 9)
            }
            transport.deliver("too long")
            #expect(second?.isCompleted == false)
            transport.deliver("\n")
            #expect(second?.now == Data((isLine ? "too long" : "too long\n").utf8))
        }
    }

    @Test("a message that comes whole, with others, or in parts is the same message")
    func whole() {
        withStream { stream, transport, _ in
            for chunks in [["one\n"], ["o", "ne\n"], ["one\ntwo\n"], ["one", "\nt", "wo\n"]] {
                let line = stream.readLine()
                for chunk in chunks { transport.deliver(chunk) }
                #expect(line.now == Data("one".utf8))
                if chunks.joined().count > 4 { #expect(stream.read(exactly: 4).now == Data("two\n".utf8)) }
                let exact = stream.read(exactly: 4)
                for chunk in chunks { transport.deliver(chunk) }
                #expect(exact.now == Data("one\n".utf8))
                if chunks.joined().count > 4 { #expect(stream.readLine().now == Data("two".utf8)) }
            }
        }
    }

    @Test("a cancelled read of a dropped stream does not keep it alive")
    func cancelledReadReleases() throws {
        let loop = EventLoop.virtual()
        loop.onUnhandledFailure = { #expect($0 as? StreamError == .droppedUnclosed) }
        let transport: ScriptedTransport
        do {
            var stream: ByteStream?
            (stream, transport) = makeStream(on: loop)
            let read = try #require(stream).read().timeout(after: .seconds(1))
            stream = nil
            #expect(transport.stream != nil)
            loop.advance(by: .seconds(1))
            #expect(read.error as? FutureError == .timedOut(after: .seconds(1)))
        }
        #expect(transport.stream == nil)
        #expect(transport.wasReset == true)
        expectNothingAlive(on: loop)
    }

    private func deliver(_ bytes: Data, _ step: Int, _ transport: ScriptedTransport) {
        var rest = bytes
        while !rest.isEmpty {
            transport.deliver(Data(rest.prefix(step)))
            rest = rest.dropFirst(step)
        }
    }

    /// What the read that was to be given up returned, if it was faster.
    private func outcome(
        of read: Future<Data>, _ kind: Kind, _ interruption: Interruption, _ position: Int
    ) throws -> Data {
        switch try #require(read.ignoreFailure().result) {
        case .success(let data):
            #expect(kind == .next ? position > 0 : kind != .toEnd && position == 64)
            return data
        case .failure(let error):
            #expect(interruption.isReason(of: error))
            return Data()
        }
    }
}
