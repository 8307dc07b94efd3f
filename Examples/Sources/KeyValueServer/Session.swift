import Foundation
import RESP
import UVFutures

/// A client.
final class Session {
    /// The client has asked for the end.
    struct Quit: Error {}

    /// Answers that wait until what they tell of is on the disk.
    private struct Held {
        /// The number of the change up to which all have to be there.
        var change: Int
        var bytes: [UInt8]
        var count: Int
    }

    /// About the bytes of memory of a client that keeps nothing.
    private static let overhead = 4096
    /// The bytes of held answers at which the client has to wait.
    private static let mostHeld = 1_048_576

    let connection: ByteStream
    let id: Int
    var name: [UInt8] = []
    var version = RESPVersion.second
    /// Whether the connection has ended. Its subscriptions go a little later.
    var hasEnded = false
    @exclusivity(unchecked) var isQuitting = false
    @exclusivity(unchecked) var subscriptions: Set<Topic> = []
    /// A future that has succeeded.
    let done: Future<Void>
    @exclusivity(unchecked) private var held: [Held] = []
    private var heldBytes = 0
    /// The bytes of the command that is under way, and of what is known of it.
    @exclusivity(unchecked) var commandBytes = 0
    /// The bytes of the names of its subscriptions, and what they take besides.
    @exclusivity(unchecked) var subscriptionBytes = 0
    /// What was last counted of its memory.
    @exclusivity(unchecked) var countedMemory = 0
    private var release: Promise<Void>?
    private var hasPushed = false

    init(_ connection: ByteStream, id: Int) {
        self.connection = connection
        self.id = id
        done = connection.loop.succeeded()
    }

    var isSubscribed: Bool { !subscriptions.isEmpty }
    var isHolding: Bool { !held.isEmpty }

    /// The bytes that the server keeps for it: of its command, of answers and messages, and of its subscriptions.
    var memory: Int {
        Self.overhead + commandBytes + connection.bufferedBytes + heldBytes + subscriptionBytes + name.count
    }

    /// Completes when no answer is held any more.
    var released: Future<Void> {
        guard isHolding else { return done }
        let promise = release ?? connection.loop.makePromise()
        release = promise
        return promise.future
    }

    /// Keeps the answer of a command until all changes up to that number are on the disk. Completes at once, unless too
    /// much is kept.
    func hold(_ answer: RawSpan, until change: Int) -> Future<Void> {
        hold(answer, until: change, count: 1)
        return heldBytes > Self.mostHeld ? released : done
    }

    /// Sends what no command has asked for.
    func push(_ message: Data) {
        if !hasPushed {
            hasPushed = true
            // A server that drains cannot know which push is the last.
            connection.draining.whenSuccess { [self] in
                released.whenSuccess { [connection] in connection.close() }
            }
        }
        if isHolding {
            hold(Array(message).span.bytes, until: held[held.count - 1].change, count: 0)
        } else {
            connection.write(message)
        }
    }

    private func hold(_ answer: RawSpan, until change: Int, count: Int) {
        if held.last?.change != change { held.append(Held(change: change, bytes: [], count: 0)) }
        held[held.count - 1].bytes.appendBytes(answer)
        held[held.count - 1].count += count
        heldBytes += answer.byteCount
    }

    /// Sends the answers that tell of changes up to that number.
    func release(upTo change: Int) {
        let ready = held.prefix { $0.change <= change }
        held.removeFirst(ready.count)
        for part in ready {
            heldBytes -= part.bytes.count
            connection.write(part.bytes)
        }
        if !isHolding { release.take()?.succeed() }
    }

    /// Answers all held commands with an error: what they did may not be on the disk.
    func failHeld(_ failure: String) {
        var answers: [UInt8] = []
        for _ in 0..<held.reduce(0, { $0 + $1.count }) {
            answers.appendError(CommandError.misconfigured(failure).description)
        }
        (held, heldBytes) = ([], 0)
        connection.write(answers)
        release.take()?.succeed()
    }
}
