import Dispatch
import Foundation
import TestSupport
import Testing
import UVFutures

/// Of calls that reach all loops, when one of them is not like the others.
extension TCPServerGroupTests {
    @Test(
        "what other loops serve is served to its end, though one loop was shut down by somebody else",
        arguments: [0, 1])
    func servesOn(stopped: Int) throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                connection.forEachChunk { _ in connection.write("\(connection.loop.hashValue)") }
            }
            var kept: TCPConnection?
            while kept == nil {
                let client = try loop.connect(to: group.localAddress)
                client.write("?")
                let served = String(decoding: try loop.run(until: client.read()), as: UTF8.self)
                let other = group.loops[1 - stopped]
                if served == "\(other.hashValue)" { kept = client } else { loop.closeAll(client) }
            }
            group.loops[stopped].stop()
            #expect(eventually { !group.loops[stopped].execute {} })
            let ended = group.shutdown(within: .seconds(600), on: loop)
            let client = try #require(kept)
            for _ in 0..<5 {
                client.write("?")
                #expect(try !loop.run(until: client.read()).isEmpty)
            }
            loop.closeAll(client)
            #expect(loop.failure(of: ended) != nil)
            #expect(group.loops.allSatisfy { !$0.execute {} })
            let again = group.shutdown(within: .zero, on: loop)
            #expect(loop.failure(of: again) as? FutureError == .shutDown)
        }
    }

    @Test("who gives up waiting for the end of a group changes nothing, and a loop that is gone ends none")
    func givenUp() throws {
        let gone = try EventLoop()
        gone.shutdown()
        try withLoop { loop in
            let group = try TCPServerGroup.listen(
                host: "127.0.0.1", port: 0, loops: 1, owning: { $0.write("hello") })
            let refused = group.shutdown(within: .zero, on: gone)
            #expect(throws: FutureError.shutDown) { try refused.result?.get() }
            let client = try loop.connect(to: group.localAddress)
            #expect(try loop.run(until: client.read()) == Data("hello".utf8))
            let ended = group.shutdown(within: .zero, on: loop)
            ended.cancel()
            #expect(try loop.run(until: ended).aborted == 1)
            client.abort()
        }
    }

    @Test("a call that throws on one loop fails the whole at once, and the others go on")
    func throwing() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) {
                $0.forEachChunk { _ in }
            }
            let (gate, last) = (DispatchSemaphore(value: 0), group.loops[1])
            let calls = group.onEach(on: loop) { server in
                if server.loop === last { throw FutureError.filtered }
                #expect(gate.wait(timeout: .now() + 60) == .success)
            }
            #expect(loop.failure(of: calls) as? FutureError == .filtered)
            gate.signal()
            _ = try loop.run(until: group.shutdown(within: .zero, on: loop))
        }
    }

    @Test("a future of a group is made on the thread of its loop")
    func elsewhere() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
                $0.forEachChunk { _ in }
            }
            try onThread { _ = group.shutdown(within: .zero, on: loop) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("used off its event loop's thread."), "\(text)")
    }
}
