import Futures
import FuturesTesting
import Testing
import UVFutures

struct OutgoingDatagramsTests {
    /// What an entry counts in addition to its bytes.
    private static let bookkeeping = MemoryLayout<OutgoingDatagrams.Entry>.stride

    private struct Trouble: Error {}

    /// Queues `bytes` with a promise of its own.
    private func append(
        _ bytes: [UInt8], _ queue: OutgoingDatagrams, _ loop: EventLoop, upTo limit: Int = .max
    ) -> (load: Int?, sent: Future<Void>) {
        let promise = BarePromise(on: loop.core)
        let load = unsafe queue.append(
            bytes.span.bytes, to: nil, from: nil, promise, isLast: true, upTo: limit)
        return (load, promise.future)
    }

    @Test("datagrams leave in order, and only what has left is counted and completed")
    func order() throws {
        try withLoop(.virtual) { loop in
            let queue = OutgoingDatagrams()
            #expect(queue.isEmpty && queue.load == 0)
            let sends = (1...5).map { append([UInt8](repeating: UInt8($0), count: $0), queue, loop).sent }
            #expect(queue.count == 5 && queue.byteCount == 15 && queue.load == 15 + 5 * Self.bookkeeping)
            queue.didSend(2)
            queue.completeSettled()
            #expect(sends.map(\.isCompleted) == [true, true, false, false, false])
            #expect(queue.sent == 2 && queue.sentBytes == 3)
            #expect(queue.count == 3 && queue.byteCount == 12)
            #expect(Array(queue.bytes[queue[0].bytes]) == [3, 3, 3])
            queue.didFail(Trouble())
            queue.completeSettled()
            #expect(loop.failure(of: sends[2]) is Trouble)
            #expect(queue.sent == 2 && Array(queue.bytes[queue[0].bytes]) == [4, 4, 4, 4])
            queue.failAll(Trouble())
            #expect(queue.isEmpty && queue.byteCount == 0 && queue.load == 0 && queue.bytes.isEmpty)
            // Not before the queue is ready for what callbacks send.
            #expect(!sends[3].isCompleted)
            queue.completeSettled()
            for future in sends[3...] { #expect(loop.failure(of: future) is Trouble) }
        }
    }

    @Test("a datagram fits up to the limit to the byte, and an empty one takes room, too")
    func limit() throws {
        try withLoop(.virtual) { loop in
            let queue = OutgoingDatagrams()
            let limit = 10 + Self.bookkeeping
            #expect(append([UInt8](repeating: 0, count: 10), queue, loop, upTo: limit).load == limit)
            #expect(append([], queue, loop, upTo: limit - 1).load == nil)
            #expect(queue.count == 1)
            #expect(append([], queue, loop, upTo: limit).load == limit + Self.bookkeeping)
            queue.didSend(queue.count)
            queue.completeSettled()
        }
    }

    @Test("datagrams that share a promise complete it with the last, or fail it with the first that fails")
    func shared() throws {
        try withLoop(.virtual) { loop in
            for fails in [false, true] {
                let queue = OutgoingDatagrams()
                let promise = BarePromise(on: loop.core)
                for number in 0..<3 {
                    _ = unsafe queue.append(
                        [0].span.bytes, to: nil, from: nil, promise, isLast: number == 2, upTo: .max)
                }
                queue.didSend(1)
                if fails { queue.didFail(Trouble()) } else { queue.didSend(1) }
                queue.completeSettled()
                #expect(promise.future.isCompleted == fails)
                queue.didSend(1)
                queue.completeSettled()
                if fails {
                    #expect(loop.failure(of: promise.future) is Trouble)
                } else {
                    #expect(loop.outcome(of: promise.future).isSuccess)
                }
                #expect(queue.sent == (fails ? 2 : 3))
            }
        }
    }

    @Test("a queue that is never empty gives back what has left, and keeps the rest as it was")
    func compacting() throws {
        try withLoop(.virtual) { loop in
            let queue = OutgoingDatagrams()
            var sends: [Future<Void>] = []
            func fill() {
                while queue.count < 100 {
                    let number = UInt8(truncatingIfNeeded: sends.count)
                    sends.append(append([UInt8](repeating: number, count: 100), queue, loop).sent)
                }
            }
            var left = 0
            for _ in 0..<1000 {
                fill()
                #expect(
                    Array(queue.bytes[queue[0].bytes]) == [UInt8](repeating: UInt8(left % 256), count: 100))
                queue.didSend(7)
                left += 7
                queue.completeSettled()
                // Never more than twice what waits.
                #expect(queue.bytes.count <= 25_000)
            }
            let next = queue[queue.count - 1]
            #expect(
                Array(queue.bytes[next.bytes])
                    == [UInt8](repeating: UInt8((sends.count - 1) % 256), count: 100))
            #expect(sends.prefix { $0.isCompleted }.count == left)
            queue.didSend(queue.count)
            queue.completeSettled()
            #expect(queue.sent == sends.count && queue.sentBytes == 100 * sends.count)
        }
    }

    @Test("an entry keeps its addresses when others have left")
    func addresses() throws {
        try withLoop(.virtual) { loop in
            let queue = OutgoingDatagrams()
            let promise = BarePromise(on: loop.core)
            for number in 0..<200 {
                _ = unsafe queue.append(
                    [0].span.bytes, to: SocketAddress(canonicalHost: "10.0.0.1", port: UInt16(number)),
                    from: SocketAddress(canonicalHost: "10.0.0.2", port: UInt16(number)), promise,
                    isLast: number == 199, upTo: .max)
            }
            queue.didSend(150)
            #expect(queue[0].target?.port == 150 && queue[0].source?.port == 150)
            #expect(queue[49].target?.host == "10.0.0.1" && queue[49].source?.host == "10.0.0.2")
            queue.didSend(50)
            queue.completeSettled()
            #expect(loop.outcome(of: promise.future).isSuccess)
        }
    }
}
