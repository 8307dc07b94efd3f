import FoundationEssentials
import Futures
import Testing
import UVFutures

/// Scopes, carried task-locals and snapshots on a loop that is attached to a host's.
struct AttachedScopeTests {
    private enum Request { @TaskLocal static var id: String? }

    @Test(
        "a scope on the loop of a host ends its server and its bodies in order", arguments: ScopeEnd.allCases)
    func scope(end: ScopeEnd) throws {
        try withHost { host, loop in
            var seen: [String] = []
            let scope = FutureScope(on: loop)
            let server = scope.add(try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, echo))
            scope.run(onDrain: .cancel) {
                do { try await loop.sleep(for: .seconds(600)).value } catch {
                    try await loop.shielded(within: .seconds(5)) {
                        try await loop.sleep(for: .milliseconds(5)).value
                    }
                    seen.append("body")
                    throw error
                }
            }
            scope.run(onDrain: .cancelLast) {
                defer { seen.append("last") }
                try await loop.sleep(for: .seconds(600)).value
            }
            let client = try host.run(
                until: TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop))
            client.write("hello\n")
            #expect(try host.run(until: client.readLine()) == Data("hello".utf8))
            end.begin(scope)
            client.readToEnd().ignoreFailure().whenComplete { _ in client.close() }
            var failure: (any Error)?
            try host.run(until: scope.ended.recover { failure = $0 })
            #expect((failure is ScopeFailure) == (end == .failure))
            #expect(seen.sorted() == ["body", "last"] && server.ended.isSuccess)
        }
    }

    @Test("the closures of a host's loop carry task-locals, and see none without a registration")
    func carries() throws {
        try withHost { host, loop in
            loop.carries(Request.$id)
            var seen: [String?] = []
            let timer = Request.$id.withValue("r-1") {
                loop.sleep(for: .milliseconds(1)).map { seen.append(Request.id) }
            }
            try host.run(until: timer)
            // Whoever runs the host's loop gives its callbacks no values.
            try Request.$id.withValue("r-2") { () throws -> Void in
                try host.run(until: timer.map { seen.append(Request.id) })
            }
            let late = loop.sleep(for: .milliseconds(1)).map { seen.append(Request.id) }
            try Request.$id.withValue("r-3") { () throws -> Void in try host.run(until: late) }
            #expect(seen == ["r-1", "r-2", nil])
        }
    }

    @Test("a snapshot of a host's loop shows what waits on it")
    func snapshot() throws {
        try withHost { host, loop in
            let mutex = FutureMutex(on: loop)
            let permit = try host.run(until: mutex.lock())
            let waiting = Future(on: loop) { try await mutex.lock().value.release() }
            try host.run(until: loop.sleep(for: .milliseconds(1)))
            let text = loop.dump()
            #expect(text.contains("a body"))
            #expect(text.contains("for mutex for which 1 waits"))
            permit.release()
            try host.run(until: waiting)
        }
    }
}
