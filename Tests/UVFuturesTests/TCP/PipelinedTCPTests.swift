import ByteStreams
import FoundationEssentials
import Testing
import UVFutures

struct PipelinedTCPTests {
    /// Answers each message with itself, and breaks its connection at each message that begins with `crash`.
    private func listen(port: Int = 0, on loop: EventLoop) throws -> TCPServer {
        let server = try TCPServer.listen(host: "127.0.0.1", port: port, on: loop) { connection in
            connection.forEachMessage(decodedBy: LengthPrefixDecoder(.uint8)) { range, bytes in
                if bytes.byteCount == 3 { throw FutureError.message("crash") }
                connection.write(bytes)
            }
        }
        server.onConnectionError = { _ in }
        return server
    }

    @Test(
        "over sockets, every request has its own answer, though the connection breaks",
        arguments: TestNetwork.allCases)
    func manyBreaks(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try listen(on: loop)
            let client = try PipelinedClient(
                decodedBy: LengthPrefixDecoder(.uint8), backoff: .constant(.milliseconds(1)), on: loop
            ) {
                TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop)
            }
            var (wrong, answered) = (0, 0)
            var crashes: [Future<Data>] = []
            for round in 0..<20 {
                var requests: [Future<Void>] = []
                for number in 0..<100 {
                    let text = Data("\(round) \(number)".utf8)
                    let request = Data([UInt8(text.count)]) + text
                    requests.append(
                        client.send(request, mayRepeat: true).map { answer in
                            answered += 1
                            if answer != text { wrong += 1 }
                        })
                    if number == 50 { crashes.append(client.send(Data([2, 0, 0])).ignoreFailure()) }
                    if number % 7 == 3 { requests.popLast()?.cancel() }
                }
                _ = try loop.run(until: Future.all(requests, on: loop))
            }
            #expect(wrong == 0 && answered >= 20 * 85)
            for crash in crashes {
                guard case .failure(PipelineError.answerLost)? = crash.result else {
                    Issue.record("\(crash)")
                    continue
                }
            }
            #expect(client.statistics.lost == 20 && client.statistics.connects >= 20)
            try loop.run(until: client.drain(within: .seconds(10)))
            _ = try loop.run(until: server.drain(within: .seconds(10)))
        }
    }

    @Test("a server that stops answering is found out", arguments: TestNetwork.allCases)
    func silentServer(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
                $0.forEachChunk { _ in }
            }
            server.onConnectionError = { #expect($0.isDisconnection) }
            var limits = PipelineLimits()
            limits.answerTimeout = .milliseconds(50)
            let client = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint8), limits: limits, on: loop)
            {
                TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop)
            }
            let answer = client.send(Data([0]))
            guard case .failure(PipelineError.answerLost(let cause)) = loop.outcome(of: answer),
                case PipelineError.answerTimedOut(after: .milliseconds(50)) = cause
            else {
                Issue.record("\(answer)")
                return
            }
            try loop.run(until: client.close())
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }
}
