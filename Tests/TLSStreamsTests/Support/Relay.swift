import Foundation
import FuturesTesting
import TLSStreams

/// Passes on what two streams in memory say to each other, changes it, or cuts it off.
final class Relay {
    /// The ends for the client and for the server.
    let near: MemoryStream
    let far: MemoryStream
    private let clientSide: MemoryStream
    private let serverSide: MemoryStream
    /// Changes bytes of the client.
    var change: (inout Data) -> Void = { _ in }
    /// The number of bytes of each side that get through: of the client and of the server.
    var limits: (Int, Int) = (.max, .max)
    private(set) var passed = (0, 0)
    /// Whether a side that is cut off ends by a reset.
    var resets = false

    init(on loop: EventLoop) throws {
        (near, clientSide) = try MemoryStream.pair(on: loop)
        (far, serverSide) = try MemoryStream.pair(on: loop)
        pass(from: clientSide, to: serverSide, \.passed.0, \.limits.0)
        pass(from: serverSide, to: clientSide, \.passed.1, \.limits.1)
    }

    private func pass(
        from source: MemoryStream, to target: MemoryStream, _ passed: ReferenceWritableKeyPath<Relay, Int>,
        _ limit: KeyPath<Relay, Int>
    ) {
        source.forEachChunk { [unowned self] chunk in
            var chunk = chunk
            if source === clientSide { change(&chunk) }
            let part = chunk.prefix(self[keyPath: limit] - self[keyPath: passed])
            self[keyPath: passed] += part.count
            if !part.isEmpty { target.write(Data(part)) }
            if part.count < chunk.count { cut(target) }
        }
        .whenSuccess { [unowned self] in if self[keyPath: limit] == .max { target.shutdownWrite() } }
    }

    private func cut(_ target: MemoryStream) {
        if resets { target.abort() } else { target.shutdownWrite() }
    }

    func end() {
        for end in [clientSide, serverSide, near, far] { end.abort() }
    }
}
