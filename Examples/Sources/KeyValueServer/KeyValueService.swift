import Foundation
import RESP
import UVFutures

/// What all clients share: the keys and values, the log of changes, and the channels.
///
/// What is used for each command is not checked for overlapping access at run time.
final class KeyValueService {
    typealias Words = [Range<Int>]

    let loop: EventLoop
    /// The bytes of memory that everything together may take, or `nil`. A quarter of it is for the clients.
    let memoryLimit: Int?
    let store: Store
    /// The log of changes. `nil` while it is loaded, and if there is none.
    var log: AppendLog?
    var channels = Channels()
    private(set) var sessions: [Int: Session] = [:]
    @exclusivity(unchecked) var clientMemory: ClientMemory
    /// The sessions with answers that wait for the disk, in the order in which they began to wait.
    private var holding: [Session] = []
    private(set) var acceptedCount = 0
    @exclusivity(unchecked) private(set) var commandCount = 0
    let started: LoopInstant
    /// The last command and its name: mostly, the next is the same.
    @exclusivity(unchecked) private var lastCommand: Command?
    @exclusivity(unchecked) private var lastName = CommandName("")
    /// The memory of answers.
    @exclusivity(unchecked) private var answer: [UInt8] = []
    /// That of the client whose command is performed.
    @exclusivity(unchecked) private(set) var version = RESPVersion.second
    private var isExpiring = false

    init(memoryLimit: Int? = nil, on loop: EventLoop) {
        (self.loop, self.memoryLimit) = (loop, memoryLimit)
        started = loop.now
        clientMemory = ClientMemory(limit: memoryLimit.map { $0 / 4 })
        store = Store(secret: loop.random.next()) { [unowned loop] in
            Int64(loop.date.timeIntervalSince1970 * 1000)
        }
        store.onExpiry = { [unowned self] in logRemoval($0) }
    }

    // MARK: Clients

    /// Performs the commands that come, until the client ends or breaks the protocol.
    func serve(_ connection: ByteStream) -> Future<Void> {
        acceptedCount += 1
        let session = Session(connection, id: acceptedCount)
        sessions[session.id] = session
        connection.gathersWrites = true
        count(session)
        let decoder = RESPCommandDecoder { [unowned self] in try count(session, commandBytes: $0) }
        return connection.forEachMessage(decodedBy: decoder) { [self] command, bytes in
            session.commandBytes = 0
            let sent = try perform(command, bytes, for: session)
            count(session)
            guard let log, let hasCaughtUp = log.hasCaughtUp else { return sent }
            return sent.flatMap { hasCaughtUp }
        }
        .recover { [self] error in
            var answer: [UInt8] = []
            switch error {
            case is Session.Quit: return
            case is RESPError: answer.appendError("ERR \(error)")
            case let error as CommandError: answer.appendError(error.description)
            default: throw error
            }
            _ = send(answer.span.bytes, to: session)
        }
        .flatMap { session.released }
        .always { [self] in
            sessions[session.id] = nil
            clientMemory.forget(session)
            session.hasEnded = true
            clientMemory.leaving += session.subscriptionBytes
            removeSubscriptions(of: session)
        }
    }

    /// Counts what is kept for a client.
    @inline(__always)
    func count(_ session: Session) {
        guard let limit = clientMemory.limit else { return }
        clientMemory.note(session)
        if clientMemory.used > limit { clientMemory.makeRoom(limit, Array(sessions.values)) }
    }

    /// Counts what is kept of a command that is not complete, which ends the client if that is too much.
    private func count(_ session: Session, commandBytes: Int) throws {
        session.commandBytes = commandBytes
        try clientMemory.check(commandBytes)
        count(session)
    }

    /// Ends the subscriptions of a client that has gone, a few in each turn.
    private func removeSubscriptions(of session: Session) {
        clientMemory.leaving -= session.subscriptionBytes
        let hasMore = channels.remove(1000, of: session)
        clientMemory.leaving += session.subscriptionBytes
        guard hasMore else { return }
        loop.later(on: .nextTurn) { [self] in removeSubscriptions(of: session) }
    }

    /// Performs a command. The returned future is that of the answer: it waits for a client that reads too slowly.
    func perform(_ command: RESPCommand, _ bytes: RawSpan, for session: Session) throws -> Future<Void> {
        if let line = command.line { return try perform(command.words, line.span.bytes, for: session) }
        return try perform(command.words, bytes, for: session)
    }

    @inline(__always)
    private func perform(_ words: Words, _ bytes: RawSpan, for session: Session) throws -> Future<Void> {
        guard let first = words.first else { return session.done }
        commandCount += 1
        version = session.version
        var answer: [UInt8] = []
        swap(&answer, &self.answer)
        defer { swap(&answer, &self.answer) }
        answer.removeAll(keepingCapacity: answer.capacity <= 65_536)
        do {
            var found = try find(bytes.extracting(first), words, bytes)
            if found.traits.contains(.hasSubcommands) { found = try findPart(of: found, words, bytes) }
            try run(found, words, bytes, session, &answer)
        } catch let error as CommandError {
            answer.removeAll(keepingCapacity: true)
            answer.appendError(error.description)
        }
        let sent = send(answer.span.bytes, to: session)
        if session.isQuitting { throw Session.Quit() }
        return sent
    }

    /// Sends the answer of a command, when all changes that it may tell of are on the disk.
    private func send(_ answer: RawSpan, to session: Session) -> Future<Void> {
        guard let log, log.holdsAnswers || session.isHolding else { return session.connection.write(answer) }
        let isFirst = !session.isHolding
        if isFirst { holding.append(session) }
        let mayGoOn = session.hold(answer, until: log.change)
        // The next command is read meanwhile. A server that drains has to know that there is more to come.
        if isFirst { session.connection.answering(session.released) }
        return mayGoOn
    }

    private func find(_ name: RawSpan, _ words: Words, _ bytes: RawSpan) throws -> Command {
        let key = CommandName(name)
        if let lastCommand, lastName == key { return lastCommand }
        guard let command = Command.all[key] else {
            // A web page that lets a browser send commands, as lines of a request. Redis ends these, too.
            if key == CommandName("POST") || key == CommandName("HOST:") { throw Session.Quit() }
            throw CommandError.unknown(words, bytes)
        }
        (lastName, lastCommand) = (key, command)
        return command
    }

    private func findPart(of command: Command, _ words: Words, _ bytes: RawSpan) throws -> Command {
        guard words.count > 1 else { return command }
        guard let part = command.subcommands[CommandName(bytes.extracting(words[1]))] else {
            throw CommandError(
                "ERR unknown subcommand '\(bytes.text(words[1].prefix(128)))'. Try \(command.name.uppercased()) HELP."
            )
        }
        return part
    }

    private func run(
        _ command: Command, _ words: Words, _ bytes: RawSpan, _ session: Session, _ answer: inout [UInt8]
    ) throws {
        guard command.arity < 0 ? words.count >= -command.arity : words.count == command.arity else {
            throw CommandError.wrongCount(command.name)
        }
        if session.isSubscribed, version == .second, !command.traits.contains(.allowedWhileSubscribed) {
            throw CommandError(
                "ERR Can't execute '\(command.name)': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                    + "allowed in this context")
        }
        if command.traits.contains(.grows), let limit = dataLimit {
            let keys = command.arity < 0 ? words.count / 2 : 1
            guard dataMemory + store.table.growth(for: keys) + bytes.byteCount <= limit else {
                throw CommandError("OOM command not allowed when used memory > 'maxmemory'.")
            }
        }
        if command.traits.contains(.writes), let failure = log?.failure {
            throw CommandError.misconfigured(failure)
        }
        try command.run(self, session, words, bytes, &answer)
    }

    /// The bytes that keys, values and what waits for the disk may take. Above, commands that need memory are refused.
    private var dataLimit: Int? { memoryLimit.map { $0 - $0 / 4 } }

    /// The bytes of everything but the clients.
    var dataMemory: Int { store.usedMemory + (log?.memory ?? 0) }

    // MARK: Changes

    /// Tells the log the value and the time of an entry.
    func logSet(_ slot: Int) { log?.record(slot) { store.appendSet(slot, to: &$0) } }

    func logExpiry(_ slot: Int) {
        log?.record(slot) { record in
            let (key, time) = (store.key(slot), store.expiry(slot))
            if time == KeyTable.never {
                record.appendCommand("PERSIST", key)
            } else {
                record.appendCommand("PEXPIREAT", key, Array(String(time).utf8))
            }
        }
    }

    func logAppend(_ slot: Int, _ suffix: RawSpan) {
        log?.record(slot) { record in
            record.appendArray(count: 3)
            record.appendBulk("APPEND")
            record.appendBulk(store.key(slot).span.bytes)
            record.appendBulk(suffix)
        }
    }

    func logRemoval(_ key: [UInt8]) {
        log?.record(nil) { $0.appendCommand("DEL", key) }
    }

    func logRemovalOfAll() {
        log?.record(nil) { $0.appendCommand("FLUSHALL") }
    }

    // MARK: Time

    /// Removes what has ended, ten times a second, while there is something that will end.
    func startExpiring() {
        guard !isExpiring, store.expiringCount > 0 else { return }
        isExpiring = true
        loop.schedule(after: .milliseconds(100)) { [self] in
            isExpiring = false
            removeExpired()
            startExpiring()
        }
        .future.ignoreFailure()
    }

    /// Removes a portion of what has ended. A pause before the next one lets clients have their turn.
    private func removeExpired() {
        if store.removeExpired(limit: 1000) { loop.later(on: .nextTurn) { [self] in removeExpired() } }
    }

    // MARK: The log

    /// Tells the sessions that wait for the disk.
    func logWasSynced(_ log: AppendLog) {
        holding.removeAll { session in
            session.release(upTo: log.safe)
            return !session.isHolding
        }
    }

    func logFailed(_ log: AppendLog) {
        for session in holding { session.failHeld(log.failure ?? "") }
        holding = []
    }
}
