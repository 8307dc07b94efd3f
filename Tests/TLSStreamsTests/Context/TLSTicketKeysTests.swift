import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSTicketKeysTests {
    @Test(
        "servers that share ticket keys resume each other's sessions, while keys are rotated",
        arguments: [TLSVersion.tls12, .tls13])
    func ticketKeys(version: TLSVersion) throws {
        try withLoop { loop in
            let keys = (0..<3).map { Data(repeating: UInt8($0 + 1), count: TLSTicketKeys.keySize) }
            func server(_ keys: [Data]?) throws -> TLSContext {
                var configuration = TLSServerConfiguration.usual
                configuration.parameters.versions = version...version
                configuration.ticketKeys = try keys.map { try TLSTicketKeys($0) }
                return try loop.server(configuration)
            }
            let client = try loop.client()
            func isResumed(by server: TLSContext) throws -> Bool {
                let pair = try loop.pair(server, client)
                pair.server.write("hello\n")
                _ = try loop.run(until: pair.client.readLine())
                try loop.close(pair)
                return pair.client.isResumed
            }
            let (old, new) = try (server([keys[0]]), server([keys[1], keys[0]]))
            #expect(try !isResumed(by: old))
            #expect(try isResumed(by: old))
            for _ in 0..<6 { #expect(try isResumed(by: new)) }
            #expect(try !isResumed(by: server([keys[2]])))
            #expect(try !isResumed(by: server(nil)))
        }
    }
}
