import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct PipelinedClientTests {
    @Test("answers go to the requests in their order, and requests wait for no answers")
    func order() throws {
        try withClient { client, server, loop in
            let answers = ["a;", "b;", "c;"].map { client.send(Data($0)) }
            settle(loop)
            #expect(server.received == ["a;b;c;"])
            #expect(client.statistics.underWay == 3)
            server.ends[0].write("1;2")
            settle(loop)
            #expect(answers.map(\.now) == ["1", nil, nil])
            server.ends[0].write(";3;")
            settle(loop)
            #expect(answers.map(\.now) == ["1", "2", "3"])
            #expect(client.statistics.answers == 3 && client.statistics.underWay == 0)
        }
    }

    @Test("a server that takes nothing holds requests back, not the cap of writes")
    func backPressure() throws {
        let (size, count) = (100_000, 400 / slowShare)
        var limits = PipelineLimits()
        limits.maxWaitingBytes = .max
        try withClient(limits: limits, capacity: 1000) { client, server, loop in
            let request = Data(String(repeating: "x", count: size - 1) + ";")
            let answers = (0..<count).map { _ in client.send(request) }
            let waiting = client.statistics.waiting
            #expect(waiting > count * 3 / 4, "\(waiting)")
            #expect(client.state == .connected)
            for _ in 0..<count * (size / 1000 + 2) where server.received[0].utf8.count < count * size {
                settle(loop)
            }
            #expect(server.received[0].utf8.count == count * size)
            server.ends[0].write(String(repeating: "ok;", count: count))
            for _ in 0..<100 { settle(loop) }
            #expect(answers.allSatisfy { $0.now == "ok" })
        }
    }

    @Test("pushed messages go to the closure, wherever they come between the answers")
    func pushes() throws {
        var pushed: [String] = []
        let push = { (message: String) -> Bool in
            guard message.hasPrefix(">") else { return false }
            pushed.append(message)
            return true
        }
        try withClient(push: push) { client, server, loop in
            let answers = ["a;", "b;"].map { client.send(Data($0)) }
            settle(loop)
            server.ends[0].write(">x;1;>y;2;>z;")
            settle(loop)
            #expect(answers.map(\.now) == ["1", "2"] && pushed == [">x", ">y", ">z"])
            #expect(client.statistics.pushes == 3 && client.state == .connected)
            server.ends[0].write("3;")
            settle(loop)
            #expect(client.state == .waiting)
            guard case PipelineError.unexpectedMessage? = client.lastError else {
                Issue.record("\(String(describing: client.lastError))")
                return
            }
        }
    }

    @Test("a request without bytes, and limits that make no sense, are refused")
    func misuse() throws {
        try withClient { client, server, loop in
            #expect(
                client.send(Data()).complaint == "a request without bytes gets no answer; give one or more")
            #expect(
                client.drain(within: .seconds(-1)).complaint?.hasPrefix("drain(within:) was given -1") == true
            )
            #expect(client.state == .connected && !client.isDraining)
        }
        let loop = EventLoop.virtual()
        #expect(throws: FutureError.invalidArgument("a jitter of 2.0 is out of range; give 0 to 1")) {
            try PipelinedClient(
                decodedBy: SemicolonDecoder(),
                backoff: .exponential(initial: .seconds(1), jitter: 2), on: loop
            ) { loop.never(of: ByteStream.self) }
        }
    }

    @Test("the defaults of the limits are those of the documentation")
    func defaults() {
        let limits = PipelineLimits()
        #expect(limits.maxUnderWay == 1024 && limits.maxAttempts == 3)
        #expect(limits.maxWaiting == 10_000 && limits.maxWaitingBytes == 16_777_216)
        #expect(limits.waitTimeout == .seconds(30) && limits.answerTimeout == .seconds(30))
        #expect(limits.greetingTimeout == .seconds(10))
    }

    @Test("a request waits while as many bytes as the high water mark have not left")
    func highWaterMark() throws {
        try withClient(capacity: 1000) { client, server, loop in
            let large = client.send(Data(repeating: 1, count: 65_536)).ignoreFailure()
            let next = client.send(Data("b;")).ignoreFailure()
            #expect(client.statistics.waiting == 1 && !large.isCompleted && !next.isCompleted)
        }
    }

    @Test("the text of a client tells what it does")
    func description() throws {
        try withClient { client, server, loop in
            _ = client.send(Data("a;")).ignoreFailure()
            #expect("\(client)".hasPrefix("client (connected to "))
            #expect("\(client)".hasSuffix(", 1 requests under way, 0 waiting)"))
            server.ends[0].abort()
            settle(loop)
            let waiting = client.send(Data("b;"))
            #expect("\(client)" == "client (waiting, 0 requests under way, 1 waiting)")
            waiting.cancel()
        }
    }
}
