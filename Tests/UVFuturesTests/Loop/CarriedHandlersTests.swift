import FoundationEssentials
import Glibc
import Testing
import UVFutures

private enum Local {
    @TaskLocal static var id: String?
}

@Suite("What handlers see of what a loop carries")
struct CarriedHandlersTests {
    /// The ways to handle a connection, and to read from it.
    enum Handler: CaseIterable { case future, body, owning, span, message, chunkAfterFuture }

    @Test(
        "handlers of connections see the value of their registration, and nothing of who connects",
        arguments: Handler.allCases, TestNetwork.allCases)
    func connections(handler: Handler, network: TestNetwork) throws {
        for value in ["server", nil] {
            try withLoop(network) { loop in
                loop.carries(Local.$id)
                let expected = value ?? "nothing"
                let seen = try serve(on: loop, by: handler, value)
                #expect(seen == [expected, expected, "client: client"])
            }
        }
    }

    /// Sends a line to a server that was made with `value`. Returns what its handler and the client have seen.
    private func serve(on loop: EventLoop, by handler: Handler, _ value: String?) throws -> [String] {
        var seen: [String] = []
        func look() { seen.append(Local.id ?? "nothing") }
        let server = try Local.$id.withValue(value) {
            switch handler {
            case .future:
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    look()
                    return connection.forEachChunk { chunk in
                        look()
                        return connection.write(chunk)
                    }
                }
            case .body:
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    look()
                    for try await line in connection.lines() {
                        look()
                        try await connection.write(line + "\n".utf8).value
                    }
                }
            case .owning:
                try TCPServer.listen(
                    host: "127.0.0.1", port: 0, on: loop,
                    owning: { connection in
                        look()
                        connection.readLine().whenSuccess { _ in
                            look()
                            connection.write("line\n")
                            connection.close()
                        }
                    })
            case .span:
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    look()
                    return connection.forEachSpan { bytes in
                        look()
                        return connection.write(bytes)
                    }
                }
            case .message:
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    look()
                    return connection.forEachMessage(decodedBy: LineDecoder()) { _, _ in
                        look()
                        return connection.write("line\n")
                    }
                }
            case .chunkAfterFuture:
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                    look()
                    // What the reader waits for ends elsewhere.
                    return connection.forEachChunk { chunk in
                        look()
                        return Local.$id.withValue("elsewhere") { loop.sleep(for: .milliseconds(1)) }
                            .flatMap { connection.write(chunk) }
                    }
                }
            }
        }
        let line = Local.$id.withValue("client") {
            TCPConnection.connect(
                host: "127.0.0.1", port: server.localAddress.port, on: loop
            )
            .flatMap { client in
                client.write("line\n")
                return client.readLine().always {
                    seen.append("client: \(Local.id ?? "nothing")")
                    client.close()
                }
            }
        }
        #expect(try loop.run(until: line)?.text == "line")
        _ = try loop.run(until: server.shutdown(within: .seconds(1)))
        return seen
    }

    @Test("handlers of datagrams and of watches see the value of their registration", arguments: ["a", nil])
    func others(value: String?) throws {
        try withLoop { loop in
            loop.carries(Local.$id)
            var seen: [String?] = []
            let receiver = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let sender = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let ends = try fifo()
            defer { for end in ends { close(end) } }
            let watch = try loop.watch(descriptor: ends[0])
            let (came, readable) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
            Local.$id.withValue(value) {
                receiver.forEachDatagram { _, _ in
                    seen.append(Local.id)
                    came.succeed()
                }
                .ignoreFailure()
                watch.onEvents(.readable) { _ in
                    seen.append(Local.id)
                    readable.succeed()
                    watch.close()
                }
            }
            Local.$id.withValue("sender") {
                loop.later {
                    sender.send(contentsOf: [Data("x".utf8)], to: receiver.localAddress).ignoreFailure()
                    #expect(unsafe write(ends[1], "x", 1) == 1)
                }
            }
            _ = try loop.run(until: Future.all([came.future, readable.future]))
            let inPool = Local.$id.withValue(value) { RemoteContext.pool.execute(on: loop) { Local.id } }
            #expect(try loop.run(until: inPool) == value)
            #expect(seen == [value, value])
            receiver.close()
            sender.close()
        }
    }
}
