import RESP
import UVFutures

/// The memory of what the server keeps for its clients, which has a limit of its own. When there is too much, those with
/// the most are ended, as Redis does it with `maxmemory-clients`.
struct ClientMemory {
    /// The most bytes of all clients together, or `nil`.
    let limit: Int?
    /// The bytes when each was last looked at.
    private(set) var used = 0
    private(set) var evictedCount = 0

    init(limit: Int?) { self.limit = limit }

    /// Notes what is kept for a client now, and ends those with the most if that is too much for `all` together.
    @inline(__always)
    mutating func count(_ session: Session, of all: [Int: Session]) {
        guard let limit else { return }
        note(session)
        if used > limit { makeRoom(limit, all) }
    }

    mutating func forget(_ session: Session) {
        used -= session.countedMemory
        session.countedMemory = 0
    }

    private mutating func note(_ session: Session) {
        guard !session.hasEnded else { return }
        let memory = session.memory
        used += memory - session.countedMemory
        session.countedMemory = memory
    }

    /// Looks at all again, since much may have been sent, and makes more room than is needed: the next look comes later.
    private mutating func makeRoom(_ limit: Int, _ all: [Int: Session]) {
        for session in all.values { note(session) }
        guard used > limit else { return }
        for session in all.values.sorted(by: { $0.countedMemory > $1.countedMemory })
        where used > limit / 10 * 9 {
            forget(session)
            session.hasEnded = true
            evictedCount += 1
            session.connection.loop.later { session.connection.abort() }
        }
    }

    /// Refuses what would take so many bytes for one client.
    @inline(__always)
    func check(_ count: Int) throws {
        if let limit, count > limit { throw CommandError.tooMuch(limit) }
    }
}

/// Finds the commands of a client, and counts what is kept of one that is not complete.
struct SessionDecoder: StreamDecoder {
    private var decoder = RESPCommandDecoder()
    private let session: Session
    private unowned let service: KeyValueService

    init(_ session: Session, of service: KeyValueService) {
        (self.session, self.service) = (session, service)
    }

    var maximumSize: Int { decoder.maximumSize }

    mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<RESPCommand>? {
        if let frame = try decoder.decode(bytes, isAtEnd: isAtEnd) { return frame }
        session.commandBytes = bytes.byteCount + decoder.memory
        try service.clientMemory.check(session.commandBytes)
        service.count(session)
        return nil
    }
}
