import FoundationEssentials
import Testing

@testable import FuturesTesting

struct PieceQueueTests {
    /// A queue, and what comes out of it as text: an end is a dot, and a reset an exclamation mark.
    private final class Pieces {
        var queue = PieceQueue()

        func sendAll(within window: Int, _ arrival: (Int) -> UInt64) -> UInt64? {
            queue.sendAll(within: window, arrival)
        }

        func arrive(at time: UInt64) -> Arrival? { queue.arrive(at: time, hashing: false) }

        func take(_ most: Int) -> String? {
            switch queue.take(most: most) {
            case .bytes(let data): String(decoding: data, as: UTF8.self)
            case .end: "."
            case .reset: "!"
            case nil: nil
            }
        }

        func dropWaitingReset() -> Bool { queue.dropWaitingReset() }
    }

    private func bytes(_ text: String) -> PieceQueue.Content { .bytes(Data(text.utf8)) }

    private func pieces(_ texts: String..., window: Int = .max, _ arrival: (Int) -> UInt64) -> Pieces {
        let pieces = Pieces()
        for text in texts { pieces.queue.append(bytes(text)) }
        _ = pieces.sendAll(within: window, arrival)
        return pieces
    }

    @Test("bytes are sent while the window has room, and an end in its turn")
    func window() throws {
        let pieces = pieces("abcde", "fghij", "k", window: 10) { UInt64($0) }
        pieces.queue.append(.end)
        #expect(
            pieces.queue.unreadBytes == 11 && pieces.queue.sentBytes == 10 && pieces.queue.nextToSend == 1)
        #expect(pieces.queue.nextArrival == 5 && !pieces.queue.hasArrivals && !pieces.queue.hasArrivedBytes)
        #expect(pieces.arrive(at: 4) == nil && pieces.take(9) == nil)
        #expect(pieces.arrive(at: 5).map { "\($0)" } == "10 bytes")
        #expect(pieces.queue.nextArrival == nil && pieces.queue.hasArrivedBytes && !pieces.queue.isAtEnd)
        #expect(pieces.take(3) == "abc")
        #expect(pieces.queue.unreadBytes == 8 && pieces.queue.sentBytes == 7 && pieces.queue.missing == 2)
        // Nothing arrives before what was sent earlier.
        #expect(pieces.sendAll(within: 8) { _ in 3 } == 5)
        #expect(pieces.queue.nextToSend == nil && pieces.queue.sentBytes == 8)
        let arrival = try #require(pieces.arrive(at: 5))
        #expect(arrival.bytes == 1 && arrival.hasEnd && !arrival.hasReset && arrival.hash == 0)
        #expect("\(arrival)" == "1 bytes and the end" && pieces.queue.missing == 0)
        #expect(pieces.take(8) == "defghijk")
        #expect(pieces.queue.isAtEnd && pieces.queue.hasArrivals && !pieces.queue.hasArrivedBytes)
        #expect(pieces.take(1) == "." && pieces.take(1) == nil)
        #expect(
            pieces.queue.unreadBytes == 0 && pieces.queue.sentBytes == 0 && !pieces.queue.hasArrivals
                && !pieces.queue.isAtEnd)
    }

    @Test("a read takes whole pieces up to its size, or a part of one")
    func taking() {
        let pieces = pieces("abc", "def", "g") { _ in 0 }
        _ = pieces.arrive(at: 0)
        #expect(pieces.take(3) == "abc")
        #expect(pieces.take(3) == "def")
        pieces.queue.append(bytes("hi"))
        pieces.queue.append(.reset)
        _ = pieces.sendAll(within: .max) { _ in 0 }
        #expect(pieces.arrive(at: 0).map { "\($0)" } == "2 bytes and a reset")
        #expect(pieces.take(2) == "g")
        #expect(pieces.take(1) == "h" && pieces.take(1) == "i")
        #expect(!pieces.queue.hasArrivedBytes && pieces.take(1) == "!" && pieces.take(1) == nil)
    }

    @Test("what is in transit is sent again, and what has arrived or arrives now is not")
    func sendingAgain() {
        var times: [UInt64] = [1, 2, 3]
        let pieces = pieces("ab", "cd", "e") { _ in times.removeFirst() }
        _ = pieces.arrive(at: 1)
        pieces.queue.sendAgain(at: 2)
        #expect(pieces.queue.nextToSend == 1 && pieces.queue.sentBytes == 4 && pieces.queue.nextArrival == 2)
        pieces.queue.sendAgain(at: 1)
        #expect(
            pieces.queue.nextToSend == 2 && pieces.queue.sentBytes == 2 && pieces.queue.nextArrival == nil)
        pieces.queue.append(.end)
        #expect(pieces.queue.missing == 4)
        #expect(pieces.sendAll(within: 4) { _ in 7 } == 7)
        #expect(pieces.queue.sentBytes == 4 && pieces.queue.nextToSend == 1)
        #expect(pieces.arrive(at: 7)?.bytes == 2)
        #expect(pieces.take(9) == "abcd" && pieces.queue.missing == 2)
    }

    @Test("what has not been sent, or has not arrived, can be dropped, and what has been read cannot")
    func dropping() {
        var times: [UInt64] = [1, 2]
        let pieces = pieces("ab", "cd") { _ in times.removeFirst() }
        pieces.queue.append(bytes("efg"))
        pieces.queue.dropUnsent()
        #expect(
            pieces.queue.unreadBytes == 4 && pieces.queue.sentBytes == 4 && pieces.queue.nextToSend == nil)
        pieces.queue.append(bytes("h"))
        pieces.queue.dropMissing(at: 1)
        #expect(
            pieces.queue.unreadBytes == 2 && pieces.queue.sentBytes == 2 && pieces.queue.nextToSend == nil)
        pieces.queue.append(bytes("ij"))
        #expect(pieces.arrive(at: 1)?.bytes == 2)
        #expect(pieces.sendAll(within: .max) { _ in 2 } == 2)
        pieces.queue.dropArrived()
        #expect(pieces.queue.unreadBytes == 2 && pieces.queue.sentBytes == 2 && !pieces.queue.hasArrivals)
        #expect(pieces.arrive(at: 2)?.bytes == 2)
        #expect(pieces.take(9) == "ij" && pieces.queue.sentBytes == 0)
    }

    @Test("a reset that waits to be sent can be dropped, and one that has been sent cannot")
    func waitingReset() {
        let pieces = pieces("ab") { _ in 1 }
        #expect(!pieces.dropWaitingReset())
        pieces.queue.append(.reset)
        #expect(pieces.dropWaitingReset() && !pieces.dropWaitingReset() && pieces.queue.nextToSend == nil)
        pieces.queue.append(bytes("c"))
        #expect(!pieces.dropWaitingReset())
        pieces.queue.append(.reset)
        _ = pieces.sendAll(within: .max) { _ in 1 }
        #expect(!pieces.dropWaitingReset())
        #expect(pieces.arrive(at: 1).map { "\($0)" } == "3 bytes and a reset")
    }

    @Test("what comes behind a hundred pieces that were read is as it was sent")
    func long() {
        let pieces = Pieces()
        for number in 0..<500 {
            pieces.queue.append(.bytes(Data([UInt8(number % 128)])))
            _ = pieces.sendAll(within: .max) { _ in UInt64(number) }
            guard number >= 100 else { continue }
            let old = number - 100
            #expect(pieces.queue.nextArrival == UInt64(old))
            #expect(pieces.arrive(at: UInt64(old))?.bytes == 1)
            #expect(pieces.take(10) == String(UnicodeScalar(UInt8(old % 128))))
            #expect(
                pieces.queue.unreadBytes == 100 && pieces.queue.sentBytes == 100
                    && pieces.queue.missing == 100)
            #expect(!pieces.queue.hasArrivals && pieces.queue.nextToSend == nil)
        }
    }
}
