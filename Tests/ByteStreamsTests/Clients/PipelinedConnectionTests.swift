import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct PipelinedConnectionTests {
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

    @Test("the requests of a turn leave with one write")
    func together() throws {
        let loop = EventLoop.virtual()
        let (stream, transport) = makeStream(on: loop)
        let client = try PipelinedClient(decodedBy: SemicolonDecoder(), on: loop) { loop.succeeded(stream) }
        settle(loop)
        let answers = ["a;", "b;", "c;"].map { client.send(Data($0)) }
        settle(loop)
        #expect(transport.sent == Data("a;b;c;") && transport.writes == 1)
        client.close()
        transport.finishClose()
        settle(loop)
        #expect(answers.allSatisfy { $0.lossCause != nil })
    }

    @Test("a connection that has ended sends nothing, and what was sent on it is not sent on the next one")
    func ended() throws {
        var connections: [PipelinedConnection<String>] = []
        var hello: [Future<String>] = []
        let greeting = { (connection: PipelinedConnection<String>) -> Future<Void> in
            connections.append(connection)
            hello.append(connection.send(Data("hello;")))
            return connection.stream.loop.succeeded()
        }
        try withClient(greeting: greeting) { client, server, loop in
            server.ends[0].abort()
            settle(loop)
            #expect(hello[0].lossCause != nil)
            #expect(connections[0].send(Data("a;")).error as? FutureError == .closed("connection"))
            client.close()
            (connections, hello) = ([], [])
        }
    }

    @Test("a server that has finished sending still gets all that was written")
    func halfClosed() throws {
        try withClient(capacity: 4) { client, server, loop in
            let answer = client.send(Data("abcdefghij;"))
            server.ends[0].shutdownWrite()
            settle(loop)
            #expect(server.received[0] == "abcdefghij;" && answer.lossCause != nil)
        }
    }

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

    @Test(
        "no answer is due once all have come, and none ever is without a limit of time",
        arguments: [Duration.seconds(10), nil])
    func nothingDue(limit: Duration?) throws {
        var limits = PipelineLimits()
        limits.answerTimeout = limit
        try withClient(limits: limits) { client, server, loop in
            for _ in 0..<2 {
                let answer = client.send(Data("a;"))
                loop.advance(by: limit == nil ? .seconds(86_400) : .seconds(9))
                server.ends[0].write("1;")
                settle(loop)
                #expect(answer.now == "1")
                loop.advance(by: .seconds(60))
                #expect(client.state == .connected && server.attempts.count == 1)
            }
        }
    }
}
