import Foundation
import Futures
import TLSStreams
import Testing

/// What has been cancelled, in order.
private final class Ends {
    var entries: [String] = []
}

struct TLSScopeTests {
    /// A client that has connected to a server at `port`, and has been greeted.
    private func greeted(at port: Int, on loop: EventLoop) throws -> TLSConnection {
        let client = try loop.run(
            until: TLSConnection.connect(host: "127.0.0.1", port: port, context: try loop.client()))
        #expect(try loop.run(until: client.readLine()) == Data("hello".utf8))
        return client
    }

    /// Waits until it is cancelled, and notes that after a clean-up.
    private func wait(_ name: String, in seen: Ends, on loop: EventLoop) async throws {
        do { try await loop.sleep(for: .seconds(600)).value } catch {
            try await loop.shielded(within: .seconds(5)) {
                try await loop.sleep(for: .milliseconds(5)).value
            }
            seen.entries.append(name)
            throw error
        }
    }

    @Test(
        "a scope ends the handlers of encrypted connections, and the work beside them",
        arguments: TestNetwork.allCases, [false, true])
    func ends(network: TestNetwork, drains: Bool) throws {
        try withLoop(network) { loop in
            let seen = Ends()
            let scope = FutureScope(on: loop)
            let server = scope.add(
                try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) { connection in
                    connection.scope.run { try await wait("member", in: seen, on: loop) }
                    connection.write("hello\n")
                    try await wait("handler", in: seen, on: loop)
                })
            server.onConnectionError = { _ in }
            let client = try greeted(at: server.localAddress.port, on: loop)
            if drains { scope.drain(within: .milliseconds(20)) } else { scope.cancel() }
            try loop.run(until: loop.sleep(for: .milliseconds(40)))
            client.abort()
            try loop.run(until: scope.ended)
            #expect(seen.entries.sorted() == ["handler", "member"] && server.ended.isSuccess)
        }
    }

    @Test(
        "a scope ends the handlers that have encrypted their connections, waits for them, and ends the work beside them",
        arguments: TestNetwork.allCases, [false, true])
    func upgraded(network: TestNetwork, isGone: Bool) throws {
        try withLoop(network) { loop in
            let seen = Ends()
            let scope = FutureScope(on: loop)
            let context = try loop.server()
            let server = scope.add(
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                    plain.scope.run { try await wait("member before", in: seen, on: loop) }
                    let tls = try await plain.startTLS(server: context).value
                    tls.scope.run { try await wait("member", in: seen, on: loop) }
                    tls.write("hello\n")
                    try await wait("handler", in: seen, on: loop)
                })
            server.onConnectionError = { _ in }
            let client = try greeted(at: server.localAddress.port, on: loop)
            if isGone {
                client.abort()
                try loop.run(until: loop.sleep(for: .milliseconds(40)))
                #expect(seen.entries.sorted() == ["member", "member before"])
            }
            scope.cancel()
            try loop.run(until: scope.ended)
            #expect(
                seen.entries.sorted() == ["handler", "member", "member before"] && server.ended.isSuccess)
            client.abort()
        }
    }

    @Test(
        "a handler that fails after it has encrypted its connection ends the work on both, and all is waited for",
        arguments: TestNetwork.allCases, ["handler", "member", "member before", "reset"])
    func upgradedFails(network: TestNetwork, failing: String) throws {
        try withLoop(network) { loop in
            struct Failure: Error {}
            let seen = Ends()
            let mayFail = loop.makePromise(of: Void.self)
            let scope = FutureScope(on: loop)
            let context = try loop.server()
            let server = scope.add(
                try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                    func part(_ name: String, _ tls: TLSConnection?) async throws {
                        guard name == failing else { return try await wait(name, in: seen, on: loop) }
                        try await mayFail.future.value
                        throw Failure()
                    }
                    plain.scope.run { try await part("member before", nil) }
                    let tls = try await plain.startTLS(server: context).value
                    tls.scope.run { try await part("member", tls) }
                    tls.write("hello\n")
                    if failing == "reset" { _ = try await tls.readLine().value }
                    try await part("handler", tls)
                })
            server.onConnectionError = { _ in }
            let client = try greeted(at: server.localAddress.port, on: loop)
            mayFail.succeed()
            if failing == "reset" { client.abort() }
            // The clean-up of the others takes 5 ms.
            let closed = server.close()
            try loop.run(until: closed)
            try loop.run(until: server.ended)
            let names = ["handler", "member", "member before"].filter { $0 != failing }
            #expect(seen.entries.sorted() == (failing == "reset" ? Array(names.dropFirst()) : names))
            scope.cancel()
            try loop.run(until: scope.ended)
            client.abort()
        }
    }

    @Test(
        "an encrypted connection stays until the work beside its handler has ended",
        arguments: TestNetwork.allCases)
    func upgradedStays(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let context = try loop.server()
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { plain in
                let tls = try await plain.startTLS(server: context).value
                tls.scope.run {
                    try await loop.sleep(for: .milliseconds(20)).value
                    tls.write("the last line\n")
                }
            }
            let client = try loop.run(
                until: TLSConnection.connect(
                    host: "127.0.0.1", port: server.localAddress.port, context: try loop.client()))
            #expect(try loop.run(until: client.readToEnd()) == Data("the last line\n".utf8))
            try loop.run(until: client.close())
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }
}
