import Foundation
import FuturesTesting
import UVFutures

@testable import Chat

/// A hall on virtual time, with members on connections in memory.
final class MemoryChat {
    let loop: EventLoop
    let hall: Hall

    init(_ settings: Hall.Settings = Hall.Settings(), log: ((EventLoop) -> ChatLog)? = nil) throws {
        loop = EventLoop.virtual()
        // Without an announcement, messages have the numbers 1, 2, 3.
        let memory = MemoryLog(on: loop).log
        let quiet = ChatLog(
            append: memory.append, announce: { [loop] _ in loop.succeeded() }, read: memory.read)
        hall = Hall(log?(loop) ?? quiet, settings, on: loop)
        try loop.run(until: hall.open())
    }

    /// One end of a connection, which reads unless it is `deaf`.
    final class Client {
        let stream: MemoryStream
        private let loop: EventLoop
        private var received: [String] = []
        private(set) var hasEnded = false

        fileprivate init(_ stream: MemoryStream, _ loop: EventLoop, isDeaf: Bool) {
            (self.stream, self.loop) = (stream, loop)
            guard !isDeaf else { return }
            Future<Void>(on: loop) {
                for try await line in stream.lines() {
                    self.received.append(String(decoding: line, as: UTF8.self))
                }
            }
            .whenComplete { [self] _ in hasEnded = true }
        }

        func send(_ line: String) { stream.write(line + "\n") }

        /// The lines that have come since the last call.
        func lines() -> [String] {
            loop.advance(by: .milliseconds(1))
            defer { received = [] }
            return received
        }
    }

    func connect(isDeaf: Bool = false, limits: StreamLimits = StreamLimits()) throws -> Client {
        let (ours, theirs) = try MemoryStream.pair(on: loop, limits: limits, capacity: 1024)
        hall.serveLines(theirs).whenComplete { _ in theirs.close() }
        return Client(ours, loop, isDeaf: isDeaf)
    }
}
