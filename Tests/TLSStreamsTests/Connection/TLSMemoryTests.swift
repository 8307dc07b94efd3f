import CHeap
import Foundation
import FuturesTesting
import TLSStreams
import TestSupport
import Testing

/// In processes of their own, since other tests use the heap, too.
@Suite(.enabled(if: !isSanitized))
struct TLSMemoryTests {
    @Test("an idle connection gives its buffers back")
    func idle() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let loop = EventLoop.virtual()
            let (server, client) = try (loop.server(), loop.client())
            func connect() throws -> Pair {
                let pair = try loop.pair(server, client)
                pair.client.write("hello\n")
                _ = try loop.run(until: pair.server.readLine())
                return pair
            }
            var pairs = try (0..<10).map { _ in try connect() }
            let before = heapInUse()
            for _ in 0..<200 { pairs.append(try connect()) }
            let each = (heapInUse() - before) / 400
            // Both ends, with what is beneath them. Buffers that are kept would be 34 KiB more.
            print("bytes", each)
            for pair in pairs { try loop.close(pair) }
            loop.shutdown()
        }
        let size = try bytes(of: result)
        #expect(size < 25_000)
    }

    @Test("connections and handshakes that end in any way leave nothing of OpenSSL's on the heap")
    func leaks() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let loop = EventLoop.virtual()
            let (server, client) = try (loop.server(), loop.client())
            var strict = TLSServerConfiguration.usual
            strict.clientCertificates = .required
            strict.chooseContext = { _ in loop.sleep(for: .milliseconds(1)).map { nil } }
            let refusing = try loop.server(strict)
            func round(_ number: Int) throws {
                let pair = try loop.pair(server, client)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                pair.client.abort()
                _ = loop.failure(of: pair.server.read())
                _ = try loop.failures(refusing, client)
                _ = try loop.failures(server, client, host: "other.org")
                let relay = try Relay(on: loop)
                relay.limits = (number * 37 % 1000, .max)
                let future = relay.far.startTLS(server: server)
                let other = relay.near.startTLS(client: client, host: "localhost")
                _ = loop.failure(of: future)
                other.cancel()
                other.ignoreFailure().whenSuccess { $0.abort() }
                relay.end()
                try refusing.reload()
                loop.advance(by: .seconds(60))
            }
            for number in 0..<30 { try round(number) }
            let before = heapInUse()
            for number in 0..<240 { try round(number) }
            let growth = heapInUse() - before
            print("bytes", growth)
            loop.shutdown()
        }
        let growth = try bytes(of: result)
        // A connection, a session, a context or a certificate of OpenSSL's in each round would be more.
        #expect(growth < 240 * 1024)
    }
}

/// The number that the test has printed.
private func bytes(of result: ExitTest.Result?) throws -> Int {
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let line = output.split(separator: "\n").first { $0.hasPrefix("bytes ") }
    return try #require(line.flatMap { Int($0.dropFirst(6)) }, "\(output)")
}

private func heapInUse() -> Int {
    let heap = mallinfo2()
    return Int(heap.uordblks + heap.hblkhd)
}
