import Futures
import FuturesTesting
import Testing

struct SharedReceiveTests {
    @Test("a receive from several channels takes one element, whichever has one", arguments: Driver.allCases)
    func receiveFromAny(driver: Driver) throws {
        try withLoop(driver) { loop in
            let channels = (0..<3).map { _ in FutureChannel<Int>(capacity: 4, on: loop) }
            for channel in channels.dropFirst() { channel.send(1) }
            try expect(FutureChannel.receive(fromAny: channels, on: loop), succeedsWith: 1)
            #expect(channels.map(\.count) == [0, 0, 1])
            try expect(FutureChannel.receive(fromAny: channels, on: loop), succeedsWith: 1)
            let first = FutureChannel.receive(fromAny: channels, on: loop)
            let second = FutureChannel.receive(fromAny: channels + [channels[0]], on: loop)
            let cancelled = FutureChannel.receive(fromAny: channels, on: loop)
            #expect(channels.map(\.waitingReceives) == [4, 3, 3])
            cancelled.cancel()
            // In one turn, before anybody hears of it.
            for (number, channel) in channels.enumerated() { channel.send(number) }
            try expect(first, succeedsWith: 0)
            try expect(second, succeedsWith: 1)
            #expect(channels.map(\.count) == [0, 0, 1] && channels.allSatisfy { $0.waitingReceives == 0 })
            let last = channels.last!.receive()
            try expect(last, succeedsWith: 2)
            let closed = FutureChannel.receive(fromAny: channels, on: loop)
            channels[1].close()
            expect(closed, failsWith: FutureError.closed("channel"))
            expect(
                FutureChannel.receive(fromAny: channels, on: loop), failsWith: FutureError.closed("channel"))
            #expect(channels.allSatisfy { $0.waitingReceives == 0 })
            expect(
                FutureChannel<Int>.receive(fromAny: [], on: loop),
                failsWith: FutureError.invalidArgument(
                    "receive(fromAny:) was given no channel; give one or more"))
            weak var released: FutureChannel<Int>?
            let dropped: Future<Int>
            do {
                let channel = FutureChannel<Int>(capacity: 1, on: loop)
                released = channel
                dropped = FutureChannel.receive(fromAny: [channel, channels[0]], on: loop)
            }
            #expect(released == nil && channels[0].waitingReceives == 0)
            expect(dropped, failsWith: FutureError.closed("channel"))
        }
    }

    @Test("a receive from a channel of another loop is refused")
    func receiveFromForeign() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (loop, other) = (EventLoop.virtual(), EventLoop.virtual())
            let channels = [loop, other].map { FutureChannel<Int>(capacity: 1, on: $0) }
            _ = FutureChannel.receive(fromAny: channels, on: loop)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "receive(fromAny:) was given a channel of another loop. Give channels of one loop."))
    }

    @Test("a receive with a cancelled token takes nothing, and one after the shutdown what is there")
    func receiveTooLate() throws {
        try withLoop(.virtual) { loop in
            let channel = FutureChannel<Int>(capacity: 1, on: loop)
            channel.send(1)
            let source = CancellationSource(on: loop)
            source.cancel()
            expectCancelled(FutureChannel.receive(fromAny: [channel], on: loop, token: source.token))
            #expect(channel.count == 1)
            loop.shutdown()
            let ends = [
                channel.receive(), FutureChannel.receive(fromAny: [channel], on: loop), channel.receive(),
            ]
            .map { "\($0.ignoreFailure())" }
            let shutDown = "Future(failure: \(FutureError.shutDown))"
            #expect(ends == ["Future(success: 1)", shutDown, shutDown])
        }
    }
}
