import Foundation
import RESP
import UVFutures

/// What all clients share: the keys and values, the log of changes, and the channels.
///
/// What is used for each command is not checked for overlapping access at run time.
final class KeyValueService {
    struct Settings {
        /// The bytes of memory that everything together may take, or `nil`. A quarter of it is for the clients.
        var memoryLimit: Int?

        /// The bytes that keys, values and what waits for the disk may take. Above, commands that need memory are refused.
        var dataLimit: Int? { memoryLimit.map { $0 - $0 / 4 } }
    }

    typealias Words = [Range<Int>]

    let loop: EventLoop
    let settings: Settings
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

    init(_ settings: Settings = Settings(), on loop: EventLoop) {
        (self.loop, self.settings) = (loop, settings)
        started = loop.now
        clientMemory = ClientMemory(limit: settings.memoryLimit.map { $0 / 4 })
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
        if let rewritten = command.rewritten {
            let rewritten = Array(rewritten)
            var decoder = RESPCommandDecoder()
            guard let plain = try decoder.decode(rewritten.span.bytes, isAtEnd: true) else {
                return session.done
            }
            return try perform(plain.frame, rewritten.span.bytes, for: session)
        }
        guard let first = command.words.first else { return session.done }
        commandCount += 1
        version = session.version
        var answer: [UInt8] = []
        swap(&answer, &self.answer)
        defer { swap(&answer, &self.answer) }
        answer.removeAll(keepingCapacity: answer.capacity <= 65_536)
        do {
            let found = try find(bytes.extracting(first), command.words, bytes)
            try run(
                found.subcommands.isEmpty ? found : findPart(of: found, command.words, bytes), command.words,
                bytes, session, &answer)
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
            throw CommandError.unknownSubcommand(
                bytes.text(words[1].prefix(128)), of: command.name.uppercased())
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
        if command.traits.contains(.grows), let limit = settings.dataLimit {
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

    /// The bytes of everything but the clients.
    var dataMemory: Int { store.usedMemory + (log?.memory ?? 0) }

    // MARK: Changes

    /// Tells the log the value and the time of an entry.
    func logSet(_ slot: Int) { log?.record(slot) { store.appendSet(slot, to: &$0) } }

    func logExpiry(_ slot: Int) {
        log?.record(slot) { record in
            let time = store.expiry(slot)
            record.appendArray(count: time == KeyTable.never ? 2 : 3)
            record.appendBulk(time == KeyTable.never ? "PERSIST" : "PEXPIREAT")
            record.appendBulk(store.key(slot).span.bytes)
            if time != KeyTable.never { record.appendBulk(String(time)) }
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
        log?.record(nil) { record in
            record.appendArray(count: 2)
            record.appendBulk("DEL")
            record.appendBulk(key.span.bytes)
        }
    }

    func logRemovalOfAll() {
        log?.record(nil) { record in
            record.appendArray(count: 1)
            record.appendBulk("FLUSHALL")
        }
    }

    // MARK: Time

    /// Removes what has ended, ten times a second, while there is something that will end.
    func startExpiring() {
        guard !isExpiring, store.hasExpiring else { return }
        isExpiring = true
        loop.schedule(after: .milliseconds(100)) { [self] in
            isExpiring = false
            // A pause between two portions lets clients have their turn.
            if store.removeExpired(limit: 1000) { loop.later(on: .nextTurn) { [self] in expireMore() } }
            startExpiring()
        }
        .future.ignoreFailure()
    }

    private func expireMore() {
        if store.removeExpired(limit: 1000) { loop.later(on: .nextTurn) { [self] in expireMore() } }
    }

    // MARK: The log

    /// Tells the sessions that wait for the disk.
    func logWasSynced(_ log: AppendLog) {
        let waiting = holding
        holding = []
        for session in waiting {
            session.release(upTo: log.safe)
            if session.isHolding { holding.append(session) }
        }
    }

    func logFailed(_ log: AppendLog) {
        let waiting = holding
        holding = []
        for session in waiting { session.failHeld(log.failure ?? "") }
    }
}
