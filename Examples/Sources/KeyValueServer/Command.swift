import RESP

/// A command that clients may send.
final class Command: Sendable {
    struct Traits: OptionSet, Sendable {
        let rawValue: Int

        /// It changes keys or values.
        static let writes = Traits(rawValue: 1)
        /// It may need memory.
        static let grows = Traits(rawValue: 2)
        static let allowedWhileSubscribed = Traits(rawValue: 4)
        /// Its second word chooses from its subcommands. To ask these would take references to them at each command.
        static let hasSubcommands = Traits(rawValue: 8)
    }

    typealias Words = KeyValueService.Words
    /// There is no session when the log is loaded.
    typealias Run = @Sendable (KeyValueService, Session?, Words, RawSpan, inout [UInt8]) throws -> Void

    let name: String
    /// The number of words, with the name. If it is negative, there may be more.
    let arity: Int
    let traits: Traits
    /// Those that the second word chooses from, by that word. Their names are those of both, as in `client|id`.
    let subcommands: [CommandName: Command]
    let run: Run

    /// Creates a command. `run` of one with subcommands is that of its name alone.
    init(
        _ name: String, _ arity: Int, _ traits: Traits = [], subcommands: [Command] = [],
        _ run: @escaping Run = { _, _, _, _, _ in }
    ) {
        (self.name, self.arity, self.run) = (name, arity, run)
        self.traits = subcommands.isEmpty ? traits : traits.union(.hasSubcommands)
        self.subcommands = Dictionary(
            uniqueKeysWithValues: subcommands.map {
                (CommandName(String($0.name.dropFirst(name.count + 1))), $0)
            })
    }

    /// Creates a command that changes or tells something of the session.
    static func ofSession(
        _ name: String, _ arity: Int, _ traits: Traits = [],
        _ run: @escaping @Sendable (KeyValueService, Session, Words, RawSpan, inout [UInt8]) throws -> Void
    ) -> Command {
        Command(name, arity, traits) { service, session, words, bytes, answer in
            if let session { try run(service, session, words, bytes, &answer) }
        }
    }

    static let all: [CommandName: Command] = {
        let commands = strings + counters + keys + times + channels + clients + server
        return Dictionary(uniqueKeysWithValues: commands.map { (CommandName($0.name), $0) })
    }()
}

/// A name in upper case, as a number. Longer names than those of the commands are all the same.
struct CommandName: Hashable {
    private var letters: UInt128 = 0

    @inline(__always)
    init(_ name: RawSpan) {
        guard name.byteCount <= 16 else { return }
        for index in 0..<name.byteCount {
            let byte = name.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            letters = letters << 8 | UInt128((97...122).contains(byte) ? byte - 32 : byte)
        }
    }

    init(_ name: String) { self.init(name.utf8Span.span.bytes) }
}

/// What is answered to a command that cannot be performed. The first word says which kind of error it is.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static let syntax = CommandError("ERR syntax error")
    static let notInteger = CommandError("ERR value is not an integer or out of range")

    static func wrongCount(_ name: String) -> CommandError {
        CommandError("ERR wrong number of arguments for '\(name)' command")
    }

    static func misconfigured(_ failure: String) -> CommandError {
        CommandError("MISCONF Errors writing to the AOF file: \(failure)")
    }

    /// Shows as much as Redis does: of each word what comes before a zero byte, and 128 bytes of all arguments.
    static func unknown(_ words: [Range<Int>], _ bytes: RawSpan) -> CommandError {
        func shown(_ word: Range<Int>, _ count: Int) -> String {
            String(decoding: bytes.array(word.prefix(count)).prefix { $0 != 0 }, as: UTF8.self)
        }
        var arguments = ""
        for word in words.dropFirst() where arguments.utf8.count < 128 {
            arguments += "'\(shown(word, 128 - arguments.utf8.count))' "
        }
        return CommandError(
            "ERR unknown command '\(shown(words[0], 128))', with args beginning with: \(arguments)")
    }
}

extension RawSpan {
    func text(_ range: Range<Int>) -> String { String(decoding: array(range), as: UTF8.self) }

    /// Whether the bytes in `range` are this word, in whatever case.
    func isWord(_ range: Range<Int>, _ word: String) -> Bool {
        range.count == word.utf8.count && CommandName(extracting(range)) == CommandName(word)
    }

    func number(_ range: Range<Int>) throws -> Int {
        guard let number = integer(in: range) else { throw CommandError.notInteger }
        return number
    }
}
