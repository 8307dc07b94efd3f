import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
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

    @Test("a request that is cancelled under way keeps its place in the order of the answers")
    func cancelledUnderWay() throws {
        try withClient { client, server, loop in
            let answers = ["a;", "b;", "c;"].map { client.send(Data($0)) }
            settle(loop)
            answers[1].cancel()
            #expect(answers[1].wasCancelled)
            server.ends[0].write("1;2;3;")
            settle(loop)
            #expect(answers[0].now == "1" && answers[2].now == "3")
        }
    }

    @Test("a request that is cancelled while it waits is not sent")
    func cancelledWaiting() throws {
        try withClient(isSilent: true) { client, server, loop in
            let answers = ["a;", "bb;", "c;"].map { client.send(Data($0)) }
            #expect(client.statistics.waiting == 3 && client.statistics.waitingBytes == 7)
            answers[1].cancel()
            #expect(client.statistics.waiting == 2 && client.statistics.waitingBytes == 4)
            server.silent[0].succeed(try server.makePair())
            settle(loop)
            #expect(server.received == ["a;c;"])
            server.ends[0].write("1;3;")
            settle(loop)
            #expect(answers[0].now == "1" && answers[2].now == "3")
        }
    }

    @Test("what was under way when the connection ends fails, and says that nobody knows")
    func lost() throws {
        try withClient { client, server, loop in
            let answers = ["a;", "b;"].map { client.send(Data($0)) }
            settle(loop)
            server.ends[0].write("1;")
            server.ends[0].shutdownWrite()
            settle(loop)
            #expect(answers[0].now == "1")
            guard case PipelineError.endedByServer? = answers[1].lossCause else {
                Issue.record("\(answers[1])")
                return
            }
            #expect(
                "\(answers[1].error!)"
                    == "the connection ended before the answer came, so whether the request was carried out is not "
                    + "known: the server ended the connection; send it with mayRepeat: true if carrying it out twice does "
                    + "no harm")
            #expect(client.statistics.lost == 1 && client.state == .waiting)
        }
    }

    @Test("requests that may be repeated are sent again first, in their order, and others are not")
    func repeated() throws {
        try withClient { client, server, loop in
            let first = client.send(Data("a;"), mayRepeat: true)
            let lost = client.send(Data("b;"))
            let third = client.send(Data("c;"), mayRepeat: true)
            settle(loop)
            server.ends[0].abort()
            settle(loop)
            #expect(lost.lossCause != nil && !first.isCompleted && !third.isCompleted)
            let fourth = client.send(Data("d;"))
            loop.advance(by: .seconds(1))
            #expect(server.received == ["a;b;c;", "a;c;d;"])
            server.ends[1].write("1;3;4;")
            settle(loop)
            #expect([first.now, third.now, fourth.now] == ["1", "3", "4"])
            #expect(client.statistics.repeats == 2 && client.statistics.connects == 2)
        }
    }

    @Test("a request is repeated only as often as the limit says")
    func attempts() throws {
        try withClient { client, server, loop in
            let poison = client.send(Data("p;"), mayRepeat: true)
            settle(loop)
            for attempt in 1...3 {
                #expect(server.received == Array(repeating: "p;", count: attempt))
                #expect(!poison.isCompleted)
                server.ends[attempt - 1].abort()
                loop.advance(by: .seconds(1))
            }
            #expect(poison.lossCause != nil)
            #expect(server.received == ["p;", "p;", "p;", ""])
        }
    }

    @Test("a request that has waited too long fails, with the reason why there is no connection")
    func waitTimeout() throws {
        try withClient(refusal: Broken()) { client, server, loop in
            let early = client.send(Data("a;"))
            loop.advance(by: .seconds(10))
            let late = client.send(Data("b;"), mayRepeat: true)
            loop.advance(by: .milliseconds(19_999))
            #expect(!early.isCompleted)
            loop.advance(by: .milliseconds(1))
            guard case .notSent(after: .seconds(30), cause: let cause?)? = early.pipelineError else {
                Issue.record("\(early)")
                return
            }
            #expect(cause is Broken && !late.isCompleted)
            #expect(
                "\(early.error!)".hasPrefix(
                    "the request was not sent within 30.0 seconds: there is no connection: "))
            #expect(client.statistics.waiting == 1)
            server.refusal = nil
            loop.advance(by: .seconds(1))
            #expect(server.received == ["b;"])
            server.ends[0].abort()
            server.refusal = Broken()
            loop.advance(by: .seconds(31))
            #expect(late.lossCause != nil, "it was sent once, so it is not said that it was not")
        }
    }

    @Test("requests that wait are limited in number and in bytes")
    func queueLimits() throws {
        var limits = PipelineLimits()
        (limits.maxWaiting, limits.maxWaitingBytes) = (2, 10)
        try withClient(limits: limits, isSilent: true) { client, server, loop in
            let large = client.send(Data("12345678;"))
            guard case .queueFull(requests: 1, bytes: 9)? = client.send(Data("a;")).pipelineError else {
                Issue.record("taken")
                return
            }
            large.cancel()
            let kept = [client.send(Data("a;")), client.send(Data("b;"))]
            let refused = client.send(Data("c;"))
            #expect(
                "\(refused.error!)"
                    == "the request was not sent, since 2 requests of 4 bytes wait already; wait for answers before the "
                    + "next one, or raise PipelineLimits.maxWaiting and maxWaitingBytes")
            for request in kept { request.cancel() }
        }
    }

    @Test("only so many requests are under way")
    func underWay() throws {
        var limits = PipelineLimits()
        limits.maxUnderWay = 2
        try withClient(limits: limits) { client, server, loop in
            let answers = (0..<5).map { client.send(Data("\($0);")) }
            settle(loop)
            #expect(server.received == ["0;1;"])
            server.ends[0].write("a;")
            settle(loop)
            #expect(server.received == ["0;1;2;"])
            server.ends[0].write("b;c;d;")
            settle(loop)
            #expect(server.received == ["0;1;2;3;4;"])
            server.ends[0].write("e;")
            settle(loop)
            #expect(answers.map(\.now) == ["a", "b", "c", "d", "e"])
        }
    }

    @Test("a server that takes nothing holds requests back, not the cap of writes")
    func backPressure() throws {
        let size = 100_000
        var limits = PipelineLimits()
        limits.maxWaitingBytes = .max
        try withClient(limits: limits, capacity: 1000) { client, server, loop in
            let request = Data(String(repeating: "x", count: size - 1) + ";")
            let answers = (0..<400).map { _ in client.send(request) }
            let waiting = client.statistics.waiting
            #expect(waiting > 300, "\(waiting)")
            #expect(client.state == .connected)
            for _ in 0..<400 * (size / 1000 + 2) where server.received[0].utf8.count < 400 * size {
                settle(loop)
            }
            #expect(server.received[0].utf8.count == 400 * size)
            server.ends[0].write(String(repeating: "ok;", count: 400))
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
        #expect(throws: FutureError.invalidArgument("a jitter of 2.0 is not from 0 to 1")) {
            try PipelinedClient(
                decodedBy: SemicolonDecoder(),
                backoff: .exponential(initial: .seconds(1), jitter: 2), on: loop
            ) { loop.never(of: ByteStream.self) }
        }
    }
}

extension PipelinedClientTests {
    @Test("an answer is due only while requests are under way, and each answer gives more time")
    func answerTimeout() throws {
        var limits = PipelineLimits()
        limits.answerTimeout = .seconds(10)
        try withClient(limits: limits) { client, server, loop in
            loop.advance(by: .seconds(60))
            #expect(client.state == .connected)
            let first = client.send(Data("a;"))
            loop.advance(by: .seconds(9))
            let second = client.send(Data("b;"))
            server.ends[0].write("1;")
            settle(loop)
            #expect(first.now == "1")
            loop.advance(by: .seconds(9))
            #expect(client.state == .connected)
            loop.advance(by: .seconds(1))
            guard case PipelineError.answerTimedOut(after: .seconds(10))? = second.lossCause else {
                Issue.record("\(second)")
                return
            }
            #expect(client.state == .waiting && server.ends[0].closed.isCompleted)
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
