import Dispatch
import Foundation
import TestSupport
import Testing
import UVFutures

/// Of calls that reach all loops, when one of them is not like the others.
extension TCPServerGroupTests {
    @Test("what other loops serve is served to its end, though one loop was shut down by somebody else")
    func servesOn() throws {
        try withLoop { loop in
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
                connection.forEachChunk { _ in connection.write("\(connection.loop.hashValue)") }
            }
            var kept: TCPConnection?
            while kept == nil {
                let client = try loop.connect(to: group.localAddress)
                client.write("?")
                let served = String(decoding: try loop.run(until: client.read()), as: UTF8.self)
                if served == "\(group.loops[0].hashValue)" { kept = client } else { loop.closeAll(client) }
            }
            group.loops[1].stop()
            #expect(eventually { !group.loops[1].execute {} })
            let ended = group.shutdown(within: .seconds(600), on: loop)
            let client = try #require(kept)
            for _ in 0..<5 {
                client.write("?")
                #expect(try !loop.run(until: client.read()).isEmpty)
            }
            loop.closeAll(client)
            #expect(loop.failure(of: ended) != nil)
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
