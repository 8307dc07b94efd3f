import ByteStreams
import FoundationEssentials
import Futures
import Testing

struct PendingNamesTests {
    enum Pending: CaseIterable {
        case write, gatheredWrite, writable, shutdownWrite, closed, draining

        var name: String {
            switch self {
            case .write, .gatheredWrite: "a write of stream"
            case .writable: "room to write to stream"
            case .shutdownWrite: "shutdownWrite of stream"
            case .closed: "the end of stream"
            case .draining: "the drain of the server of stream"
            }
        }

        func start(_ stream: ByteStream) -> Future<Void> {
            switch self {
            case .write: return stream.write("a")
            case .gatheredWrite:
                stream.gathersWrites = true
                stream.write("a")
                return stream.write("")
            case .writable:
                stream.write("a")
                return stream.writable
            case .shutdownWrite: return stream.shutdownWrite()
            case .closed: return stream.closed
            case .draining: return stream.draining
            }
        }
    }

    @Test("a snapshot names what a stream still has to do", arguments: Pending.allCases)
    func named(pending: Pending) {
        var limits = StreamLimits()
        (limits.writeHighWaterMark, limits.writeLowWaterMark) = (1, 1)
        withStream(limits: limits) { stream, transport, loop in
            loop.isTraced = true
            transport.room = 0
            let future = pending.start(stream)
            let names = loop.snapshot().items.map(\.text)
            #expect(names.contains { $0.hasPrefix(pending.name) }, "\(names)")
            future.ignoreFailure()
        }
    }
}
