import FoundationEssentials
import TestSupport
import UVFutures

/// One end of a connection of a program.
final class AgreementEnd {
    let name: String
    /// The line of the outcomes that says how the connection ends.
    var line = 0
    var stream: SocketConnection?
    /// The connection has not been accepted, or is over, or this side has no use for it any more.
    var isGone: Bool { stream == nil || isOver }
    var isOver = false
    /// The other end. It may be gone when the loop is shut down.
    weak var peer: AgreementEnd!
    /// The bytes that were written, and those that reads have returned.
    var written = 0
    var taken = 0
    /// Whether nothing can be written, because this side said so.
    var hasFinished = false
    var hasClosed = false { didSet { hasFinished = true } }
    /// Whether it has had a write that its peer had no room for.
    var isFlooding = false
    /// Whether this end belongs to a server that sends back what comes.
    var isEcho = false
    private let start: Int

    /// The pending read.
    var reading: AgreementProgram.Verb?
    var cancelRead: () -> Void = {}
    var cancelWrite: () -> Void = {}
    var gate: Promise<Void>?
    /// Whether a slow reader goes on, and whether that is only since the program has ended.
    var isReleased = false
    var isLeft = false
    /// Whether a slow reader has failed while it held a chunk. What that leaves for later reads is not determined.
    var hasLostChunk = false
    private(set) var isWrong = false

    init(_ name: String, start: Int) {
        self.name = name
        self.start = start
    }

    /// The error in words. If a connection breaks while a write is pending, either the write finds that out, or
    /// the watch for hang-ups does.
    func name(of error: any Error) -> String {
        let isBroken = isFlooding && error.isDisconnection && error is SystemError
        return isBroken ? "broken" : agreementName(of: error)
    }

    /// How the connection has ended. If this side has closed it, what the peer does then is of no interest, unless
    /// some bytes have not been acknowledged. A kernel may wait a moment before it acknowledges.
    func name(ofEnd error: any Error) -> String {
        if case StreamError.unacknowledged = error { return "well" }
        return hasClosed && error.isDisconnection && !isFlooding ? "well" : name(of: error)
    }

    // MARK: Writing

    /// The bytes that can be written such that they arrive though nobody reads.
    var room: Int { max(0, 48_000 - (written - peer.taken)) }

    /// The next bytes to be written.
    func next(_ count: Int) -> Data {
        let data = content(written, count)
        if !hasFinished { written += count }
        if peer.isEcho { peer.written = written }
        return data
    }

    private func content(_ offset: Int, _ count: Int) -> Data { AgreementBytes.part(start + offset, count) }

    // MARK: Reading

    /// Notes that the next bytes have been read, and compares them with what the peer has written.
    func take(_ data: Data) {
        guard peer != nil else { return }
        if data != sent(taken, data.count) { isWrong = true }
        taken += data.count
    }

    private func sent(_ offset: Int, _ count: Int) -> Data {
        peer.isEcho ? content(offset, count) : peer.content(offset, count)
    }

    /// Notes that a line has been read, with what ends it.
    func takeLine(_ line: Data) {
        take(line)
        guard peer != nil else { return }
        let rest = sent(taken, min(2, peer.written - taken))
        if rest.first == 10 { taken += 1 } else if rest.elementsEqual([13, 10]) { taken += 2 }
    }

    /// What has come of that which the peer has sent, read or not, as far as it is determined. A later step may
    /// depend on it: a drop resets a connection unless the end has come.
    var arrivals: String {
        guard let stream, stream.isOpen, gate == nil, !isFlooding, !peer.isFlooding else { return "" }
        return " of \(stream.bytesReceived)\(stream.isReadToEnd ? ", and the end" : "")"
    }

    /// What a read has returned, in words.
    func text(_ count: Int?) -> String {
        guard let count else { return "end" }
        return isWrong ? "\(count) bytes, which nobody sent" : "\(count) bytes"
    }
}

/// What is sent: random bytes, with lines of many lengths.
enum AgreementBytes {
    private static let period = 65_521
    private static let longest = 2_097_152
    /// An array: the leak check does not recognise the pointer that a static `Data` holds.
    private static let all: [UInt8] = {
        var generator = SeededGenerator(seed: 1)
        var bytes: [UInt8] = []
        while bytes.count < period {
            bytes += generator.bytes(generator.below(10) == 0 ? generator.below(3000) : generator.below(100))
            bytes += generator.below(2) == 0 ? [10] : [13, 10]
        }
        bytes.removeLast(bytes.count - period)
        var all: [UInt8] = []
        all.reserveCapacity(longest + period)
        while all.count < longest { all += bytes }
        return all
    }()

    static func part(_ offset: Int, _ count: Int) -> Data {
        Data(all.dropFirst(offset % period).prefix(count))
    }
}
