import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import Testing

struct RequestQueueTests {
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
            let exact = client.send(Data("123456789;"))
            #expect(!exact.isCompleted && client.statistics.waitingBytes == 10)
            exact.cancel()
            let large = client.send(Data("12345678;"))
            guard case .queueFull(requests: 1, bytes: 9)? = client.send(Data("a;")).pipelineError else {
                Issue.record("taken")
                return
            }
            large.cancel()
            let kept = [client.send(Data("a;")), client.send(Data("b;"))]
            let refused = client.send(Data("c;"))
            #expect(
                "\(refused.error!)" == """
                    the request was not sent, since 2 requests with 4 bytes in all wait already; wait for answers \
                    before the next one, or raise PipelineLimits.maxWaiting and maxWaitingBytes
                    """)
            for request in kept { request.cancel() }
        }
    }
}
