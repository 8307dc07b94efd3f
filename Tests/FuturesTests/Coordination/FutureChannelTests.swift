import Futures
import FuturesTesting
import TestSupport
import Testing

struct FutureChannelTests {
    @Test(
        "a channel holds back who pushes too much, and keeps the order", arguments: Driver.allCases,
        [0, 1, 3])
    func backPressure(driver: Driver, capacity: Int) throws {
        try withLoop(driver) { loop in
            let channel = FutureChannel<Int?>(capacity: capacity, on: loop)
            let pushes = (0..<6).map { channel.send($0 == 4 ? nil : $0) }
            #expect(pushes.map(\.isCompleted) == (0..<6).map { $0 < capacity })
            #expect(channel.count == capacity && channel.waitingSends == 6 - capacity)
            #expect(!channel.trySend(9))
            for number in 0..<6 {
                try expect(channel.receive(), succeedsWith: number == 4 ? nil : number)
                #expect(pushes.map(\.isCompleted) == (0..<6).map { $0 <= number + capacity })
            }
            #expect(channel.tryReceive() == nil && channel.count == 0)
        }
    }

    @Test("a pop waits for its element; who asks first is served first", arguments: Driver.allCases, [0, 2])
    func waiting(driver: Driver, capacity: Int) throws {
        try withLoop(driver) { loop in
            let channel = FutureChannel<Int>(capacity: capacity, on: loop)
            let pops = (0..<3).map { _ in channel.receive() }
            #expect(channel.waitingReceives == 3)
            #expect(channel.send(1).isCompleted)
            #expect(channel.trySend(2))
            #expect(pops.map(\.isCompleted) == [true, true, false])
            try expect(pops[1], succeedsWith: 2)
            channel.send(3)
            try expect(Future.all(pops), succeedsWith: [1, 2, 3])
        }
    }

    @Test(
        "nothing is given to who was cancelled or too late, nor taken from a cancelled push",
        arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let channel = FutureChannel<Int>(capacity: 1, on: loop)
            let unwanted = channel.receive()
            let late = channel.receive().timeout(after: .ticks(1))
            let mapped = channel.receive().map { $0 }
            let wanted = channel.receive()
            #expect(unwanted.cancel())
            #expect(mapped.cancel())
            expect(late, failsWith: FutureError.timedOut(after: .ticks(1)))
            channel.send(1)
            try expect(wanted, succeedsWith: 1)

            channel.send(2)
            let withdrawn = channel.send(3)
            let lastPush = channel.send(4)
            #expect(withdrawn.cancel())
            try expect(channel.receive(), succeedsWith: 2)
            try expect(channel.receive(), succeedsWith: 4)
            #expect(lastPush.isCompleted && channel.tryReceive() == nil)
        }
    }

    @Test("an element that comes while its pop is being cancelled is not lost", arguments: Driver.allCases)
    func pushWhileCancelling(driver: Driver) throws {
        try withLoop(driver) { loop in
            let channel = FutureChannel<Int>(capacity: 1, on: loop)
            let pop = channel.receive()
            let working = pop.whilePending { Disposer { channel.send(7) } }
            try settle(loop)
            #expect(pop.cancel(.evenIfOthersWaiting))
            expectCancelled(working)
            #expect(channel.tryReceive() == 7)
        }
    }

    @Test("a closed channel is emptied first, then refuses", arguments: Driver.allCases)
    func close(driver: Driver) throws {
        try withLoop(driver) { loop in
            let channel = FutureChannel<Int>(capacity: 1, on: loop)
            channel.send(1)
            let waiting = channel.send(2)
            channel.close()
            channel.close(with: Failure(1))
            #expect(channel.isClosed && channel.closedError as? FutureError == .closed("channel"))
            expect(channel.send(3), failsWith: FutureError.closed("channel"))
            #expect(!channel.trySend(3))
            try expect(channel.receive(), succeedsWith: 1)
            try expect(channel.receive(), succeedsWith: 2)
            #expect(waiting.isCompleted)
            expect(channel.receive(), failsWith: FutureError.closed("channel"))

            let other = FutureChannel<Int>(capacity: 1, on: loop)
            let pop = other.receive()
            other.close(with: Failure(2))
            expect(pop, failsWith: Failure(2))
        }
    }

    @Test("an aborted channel drops what is in it and fails all who wait", arguments: Driver.allCases)
    func abort(driver: Driver) throws {
        try withLoop(driver) { loop in
            var released = 0
            let channel = FutureChannel<Witness>(capacity: 1, on: loop)
            channel.send(Witness { released += 1 })
            let push = channel.send(Witness { released += 1 })
            channel.abort(with: Failure(1))
            expect(push, failsWith: Failure(1))
            try settle(loop)
            #expect(released == 2)
            expect(channel.receive().map { $0.look() }, failsWith: Failure(1))
            expect(channel.send(Witness()), failsWith: Failure(1))
            let empty = FutureChannel<Int>(capacity: 1, on: loop)
            let pop = empty.receive()
            empty.abort(with: Failure(2))
            expect(pop, failsWith: Failure(2))
        }
    }

    @Test(
        "who waits on a channel that is released, or on a loop that is shut down, fails",
        arguments: Driver.allCases)
    func dropped(driver: Driver) throws {
        try withLoop(driver) { loop in
            var channel: FutureChannel<Int>? = FutureChannel(capacity: 0, on: loop)
            let push = channel!.send(1)
            var other: FutureChannel<Int>? = FutureChannel(capacity: 0, on: loop)
            let pop = other!.receive()
            channel = nil
            other = nil
            expect(push, failsWith: FutureError.closed("channel"))
            expect(pop, failsWith: FutureError.closed("channel"))
            let last = FutureChannel<Int>(capacity: 0, on: loop)
            let never = last.receive()
            loop.shutdown()
            #expect("\(never)" == "Future(failure: \(FutureError.shutDown))")
            withExtendedLifetime(last) {}
        }
    }

    @Test(
        "whatever comes between, each element arrives once and in order", arguments: SeededGenerator.seeds(10)
    )
    func random(seed: UInt64) throws {
        try withLoop(.virtual) { loop in
            var generator = SeededGenerator(seed: seed)
            let channel = FutureChannel<Int>(capacity: generator.below(4), on: loop)
            var pushed: [(Int, Future<Void>)] = []
            var popped: [Future<Int>] = []
            for number in 0..<500 {
                switch generator.below(6) {
                case 0, 1: pushed.append((number, channel.send(number)))
                case 2, 3: popped.append(channel.receive())
                case 4: pushed.randomElement(using: &generator)?.1.cancel()
                default: popped.randomElement(using: &generator)?.cancel()
                }
            }
            let got = popped.compactMap { try? $0.result?.get() } + Array(unfolding: channel.tryReceive)
            let given = pushed.compactMap { number, future in
                (try? future.result?.get()) == nil ? nil : number
            }
            #expect(got == given)
            for future in popped { future.cancel() }
        }
    }
}

extension Array {
    /// All that `next` returns up to the first `nil`.
    fileprivate init(unfolding next: () -> Element?) {
        self = []
        while let element = next() { append(element) }
    }
}
