import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct EndingTests {
    @Test("close fails what waits and what is under way, each with its own error")
    func close() throws {
        var limits = PipelineLimits()
        limits.maxUnderWay = 1
        try withClient(limits: limits) { client, server, loop in
            let sent = client.send(Data("a;"), mayRepeat: true)
            let waiting = client.send(Data("b;"))
            settle(loop)
            client.close()
            #expect(sent.lossCause as? FutureError == .closed("client"))
            #expect(waiting.error as? FutureError == .closed("client"))
            #expect(client.statistics.lost == 1 && client.statistics.unsent == 1)
            #expect(client.send(Data("c;")).error as? FutureError == .closed("client"))
            settle(loop)
            #expect(server.attempts.count == 1 && server.received == ["a;"])
        }
    }

    @Test("draining waits for all answers, and refuses further requests")
    func drain() throws {
        try withClient { client, server, loop in
            let answers = ["a;", "b;"].map { client.send(Data($0)) }
            let drained = client.drain(within: .seconds(100))
            #expect(client.send(Data("c;")).error as? FutureError == .closed("client"))
            settle(loop)
            server.ends[0].write("1;")
            settle(loop)
            #expect(!drained.isCompleted && client.state == .connected)
            server.ends[0].write("2;")
            settle(loop)
            #expect(answers.map(\.now) == ["1", "2"] && client.state == .closed)
            server.ends[0].close()
            settle(loop)
            #expect(drained.succeeded)
        }
    }

    @Test("draining connects once more for what waits, and ends at once if nothing does")
    func drainWhileWaiting() throws {
        try withClient { client, server, loop in
            server.ends[0].abort()
            settle(loop)
            let answer = client.send(Data("a;"))
            client.drain(within: .seconds(100))
            loop.advance(by: .seconds(1))
            #expect(server.received == ["", "a;"])
            server.ends[1].write("1;")
            settle(loop)
            #expect(answer.now == "1" && client.state == .closed)
        }
        try withClient { client, server, loop in
            client.drain(within: .seconds(1))
            #expect(client.state == .closed)
        }
    }

    @Test("draining ends at once when what was under way is lost, or when there is no connection")
    func drainWithoutConnection() throws {
        try withClient { client, server, loop in
            let answer = client.send(Data("a;"))
            client.drain(within: .seconds(100))
            settle(loop)
            server.ends[0].abort()
            settle(loop)
            #expect(answer.lossCause != nil && client.state == .closed && server.attempts.count == 1)
        }
        try withClient { client, server, loop in
            server.ends[0].abort()
            settle(loop)
            #expect(client.state == .waiting)
            client.drain(within: .seconds(100))
            #expect(client.state == .closed)
        }
    }

    @Test("draining does not wait for requests that have waited too long, or were cancelled")
    func drainOfWaiting() throws {
        var limits = PipelineLimits()
        limits.waitTimeout = .seconds(5)
        try withClient(limits: limits, isSilent: true) { client, server, loop in
            let waiting = client.send(Data("a;"))
            client.drain(within: .seconds(100))
            loop.advance(by: .seconds(5))
            #expect(waiting.pipelineError != nil && client.state == .closed)
        }
    }

    @Test(
        "draining ends when the last request that waits was cancelled, whatever the client waits for",
        arguments: ["connect", "greeting", "next attempt"])
    func drainOfCancelled(step: String) throws {
        var promise: Promise<Void>?
        let greeting = { (connection: PipelinedConnection<String>) -> Future<Void> in
            promise = connection.stream.loop.makePromise()
            return promise!.future
        }
        try withClient(
            greeting: step == "greeting" ? greeting : nil, refusal: step == "next attempt" ? Broken() : nil,
            isSilent: step == "connect"
        ) { client, server, loop in
            let waiting = ["a;", "b;"].map { client.send(Data($0)) }
            client.drain(within: .seconds(100))
            waiting[0].cancel()
            #expect(client.state != .closed)
            waiting[1].cancel()
            #expect(client.state == .closed)
            settle(loop)
            promise = nil
        }
    }

    @Test("what was written before a close is still sent")
    func closeSends() throws {
        try withClient(capacity: 4) { client, server, loop in
            let answer = client.send(Data("abcdefghij;"))
            client.close()
            settle(loop)
            #expect(server.received == ["abcdefghij;"] && answer.lossCause != nil)
        }
    }

    @Test("draining has an end")
    func drainDeadline() throws {
        try withClient { client, server, loop in
            let answer = client.send(Data("a;"))
            client.drain(within: .seconds(5))
            client.drain(within: .seconds(3))
            loop.advance(by: .milliseconds(2_999))
            #expect(!answer.isCompleted)
            loop.advance(by: .milliseconds(1))
            #expect(answer.lossCause as? FutureError == .closed("client") && client.state == .closed)
        }
    }

    @Test(
        "a shutdown of the loop ends the client, whatever it is about",
        arguments: ["connecting", "connected", "waiting"])
    func shutdown(when: String) throws {
        let loop = EventLoop.virtual()
        let server = PlayedServer(on: loop)
        server.isSilent = when == "connecting"
        server.refusal = when == "waiting" ? Broken() : nil
        let client = try PipelinedClient(
            decodedBy: SemicolonDecoder(), backoff: .constant(.seconds(1)), on: loop, connect: server.connect)
        settle(loop)
        #expect(client.state.rawValue == when)
        let answer = client.send(Data("a;"), mayRepeat: true)
        loop.shutdown()
        #expect(answer.error as? FutureError == .shutDown)
        #expect(client.state == .closed && client.closed.error as? FutureError == .shutDown)
    }
}
