import Foundation
import FuturesTesting
import TLSStreams
import TestSupport
import Testing

struct OpenSSLConnectionTests {
    /// What each side has sent in a whole handshake and an exchange, chunk by chunk.
    private func recording(_ loop: EventLoop, _ server: TLSContext, _ client: TLSContext) throws -> [Data] {
        let relay = try Relay(on: loop)
        var chunks: [Data] = []
        relay.change = { chunks.append($0) }
        let accepted = relay.far.startTLS(server: server)
        let connection = try loop.run(until: relay.near.startTLS(client: client, host: "localhost"))
        connection.write("hello\n")
        _ = try loop.run(until: try loop.run(until: accepted).readLine())
        relay.end()
        loop.advance(by: .seconds(1))
        return chunks
    }

    @Test(
        "mutated greetings, handshakes and records end in an error or are not noticed, and no other byte arrives"
    )
    func anything() throws {
        var random = SeededGenerator()
        // The others meet a server as its first bytes, which is quick.
        let (count, shareUnderWay) = isSoaking ? (2 * largeCount, 2) : (largeCount / 50, 20)
        try withLoop { loop in
            var (old, other) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            old.parameters.versions = .tls12 ... .tls12
            old.clientCertificates = .requested
            old.trust = .authorities([Authority.root.file])
            old.parameters.protocols = ["h2"]
            other.identity = Authority.client.identity()
            other.parameters.protocols = ["h2"]
            let servers = try [loop.server(), loop.server(old)]
            let clients = try [loop.client(), loop.client(other)]
            var recorded: [Data] = []
            for server in servers {
                for client in clients { recorded += try recording(loop, server, client) }
            }
            var (refused, unnoticed) = (0, 0)
            for number in 0..<count {
                if number % shareUnderWay == 0 {
                    let isIntact = try handshake(
                        loop, servers[random.below(2)], clients[random.below(2)], &random)
                    if isIntact { unnoticed += 1 } else { refused += 1 }
                } else {
                    var bytes = recorded[random.below(recorded.count)]
                    random.mutate(&bytes)
                    let (near, far) = try MemoryStream.pair(on: loop)
                    let isServer = random.below(4) > 0
                    let future =
                        isServer
                        ? far.startTLS(server: servers[random.below(2)])
                        : far.startTLS(client: clients[random.below(2)], host: "localhost")
                    near.write(bytes)
                    if random.below(2) == 0 { near.shutdownWrite() }
                    loop.advance(by: .milliseconds(1))
                    if case .failure? = future.ignoreFailure().result { refused += 1 } else { unnoticed += 1 }
                    near.abort()
                    loop.advance(by: .milliseconds(1))
                    #expect(future.isCompleted)
                }
            }
            loop.advance(by: .seconds(60))
            #expect(
                refused > count / 10 && unnoticed > count / 100, "\(refused) and \(unnoticed) of \(count)")
        }
    }

    /// A handshake and an exchange of which a chunk is mutated. Returns whether all went well.
    private func handshake(
        _ loop: EventLoop, _ server: TLSContext, _ client: TLSContext, _ random: inout SeededGenerator
    ) throws -> Bool {
        let relay = try Relay(on: loop)
        var (left, generator) = (random.below(5), SeededGenerator(seed: random.next()))
        relay.change = { bytes in
            if left == 0 { generator.mutate(&bytes) }
            left -= 1
        }
        let text = random.bytes(1 + random.below(100))
        let received = relay.far.startTLS(server: server).flatMap { connection in
            connection.readToEnd().always { connection.abort() }
        }
        let sent = relay.near.startTLS(client: client, host: "localhost").flatMap { connection in
            connection.write(text)
            return connection.close()
        }
        loop.advance(by: .seconds(30))
        relay.end()
        loop.advance(by: .seconds(30))
        let isSent = sent.ignoreFailure().isSuccess
        guard case .success(let bytes)? = received.ignoreFailure().result else { return false }
        #expect(bytes == text)
        return isSent
    }
}

extension SeededGenerator {
    /// Changes, removes or adds some bytes.
    fileprivate mutating func mutate(_ bytes: inout Data) {
        var all = [UInt8](bytes)
        for _ in 0...below(3) {
            guard !all.isEmpty else { break }
            let place = below(min(all.count, below(2) == 0 ? 64 : all.count))
            switch below(5) {
            case 0: all[place] ^= 1 << UInt8(below(8))
            case 1: all[place] = UInt8(below(256))
            case 2: all.insert(UInt8(below(256)), at: place)
            case 3: all.remove(at: place)
            default: all.removeSubrange(place...)
            }
        }
        bytes = Data(all)
    }
}
