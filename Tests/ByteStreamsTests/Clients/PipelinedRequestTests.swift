import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct PipelinedRequestTests {
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
                "\(answers[1].error!)" == """
                    the connection ended before the answer came, so it is not known whether the request was carried out: \
                    the server ended the connection; send it with mayRepeat: true if carrying it out twice does no harm
                    """)
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

    @Test("requests that are repeated go before those that have waited meanwhile")
    func repeatedFirst() throws {
        var limits = PipelineLimits()
        limits.maxUnderWay = 2
        try withClient(limits: limits) { client, server, loop in
            let answers = ["a;", "b;", "c;", "d;"].map { client.send(Data($0), mayRepeat: true) }
            settle(loop)
            server.ends[0].abort()
            loop.advance(by: .seconds(1))
            #expect(server.received == ["a;b;", "a;b;"])
            server.ends[1].write("1;2;")
            settle(loop)
            server.ends[1].write("3;4;")
            settle(loop)
            #expect(server.received[1] == "a;b;c;d;" && answers.map(\.now) == ["1", "2", "3", "4"])
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
}
