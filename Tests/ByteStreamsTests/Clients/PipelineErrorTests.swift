import ByteStreams
import Testing

struct PipelineErrorTests {
    @Test("an error of a client says what happened and what to do")
    func texts() {
        let texts: [(PipelineError, String)] = [
            (
                .answerLost(cause: PipelineError.endedByServer),
                "the connection ended before the answer came, so it is not known whether the request was carried out: the "
                    + "server ended the connection; send it with mayRepeat: true if carrying it out twice does no harm"
            ),
            (
                .notSent(after: .seconds(2), cause: nil),
                "the request was not sent within 2.0 seconds: the server has not taken it; look at the server, or raise "
                    + "PipelineLimits.waitTimeout"
            ),
            (
                .notSent(after: .seconds(2), cause: Broken()),
                "the request was not sent within 2.0 seconds: there is no connection: \(Broken()); look at the server, or "
                    + "raise PipelineLimits.waitTimeout"
            ),
            (
                .queueFull(requests: 3, bytes: 40),
                "the request was not sent, since 3 requests with 40 bytes in all wait already; wait for answers before the "
                    + "next one, or raise PipelineLimits.maxWaiting and maxWaitingBytes"
            ),
            (
                .answerTimedOut(after: .seconds(10)),
                "the server did not answer for 10.0 seconds; if its requests take so long, raise PipelineLimits.answerTimeout"
            ),
            (
                .unexpectedMessage,
                "the server sent a message that answers no request; if it may, give the client a push closure that returns "
                    + "true for such a message"
            ),
        ]
        for (error, text) in texts { #expect("\(error)" == text) }
    }
}
