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
}
