import Dispatch
import TestSupport
import Testing

@testable import Futures

struct TurnShareTests {
    /// The ways in which callbacks come into the queues of a loop.
    enum Queue: CaseIterable {
        case submitted, later, nextTurn, chain, jobs, watched
    }

    // A share is five of these, and the clock is read after the 16th and the 32nd. Without a share, a turn has all of them.
    @Test("dear callbacks are spread over turns, whatever queue they come from", arguments: Queue.allCases)
    func dear(queue: Queue) throws {
        try withLoop(.libuv) { loop in
            let count = 1000
            let turns = SharedRecord<Int>()
            let dear = { @Sendable in
                let end = ContinuousClock.now + .microseconds(100)
                while .now < end {}
                turns.add(Int(loop.statistics.turns))
            }
            try loop.run(until: loop.submit { fill(queue, of: loop, count, dear) })
            try loop.run()
            #expect(turns.entries.count == count)
            let most = Dictionary(grouping: turns.entries) { $0 }.values.map(\.count).max()!
            #expect(most < count / 4, "\(most) in a turn")
        }
    }

    private func fill(
        _ queue: Queue, of loop: EventLoop, _ count: Int, _ dear: @escaping @Sendable () -> Void
    ) {
        func chain(_ left: Int) { if left > 0 { loop.submit(dear).whenSuccess { chain(left - 1) } } }
        if queue == .watched { loop.onSlowCallback(longerThan: .seconds(60)) { _ in } }
        switch queue {
        case .submitted, .watched: for _ in 0..<count { loop.submit(dear).whenSuccess {} }
        case .later: for _ in 0..<count { loop.later(dear) }
        case .nextTurn: for _ in 0..<count { loop.later(on: .nextTurn, dear) }
        case .chain: chain(count)
        case .jobs:
            let group = DispatchGroup()
            startThread(of: group) { for _ in 0..<count { loop.execute(dear) } }
            group.wait()
        }
    }

    @Test("a turn without time runs 16 callbacks, and in order", arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.core.setTurnShare(.zero)
            var (turns, order): ([UInt64], [Int]) = ([], [])
            for number in 0..<100 {
                loop.later {
                    turns.append(loop.statistics.turns)
                    order.append(number)
                }
            }
            try loop.run()
            #expect(order == Array(0..<100))
            let sizes = Dictionary(grouping: turns) { $0 }.sorted { $0.key < $1.key }.map(\.value.count)
            #expect(sizes == [16, 16, 16, 16, 16, 16, 4])
        }
    }

    @Test("once 16 units are done the clock is read, often at first, and then after each 16th")
    func readings() {
        var share = TurnShare()
        var (units, between): (Int, [Int]) = (0, [])
        while between.count < 6 {
            units += 1
            share.unitsLeft -= 1
            guard share.unitsLeft < 0 else { continue }
            let isUsedUp = share.isUsedUp(at: 1000 + UInt64(between.count))
            #expect(!isUsedUp)
            between.append(units)
            units = 0
        }
        #expect(between == [17, 2, 4, 8, 16, 16])
        // The share begins with the first reading.
        let used = [UInt64(500_999), 501_000].map { share.isUsedUp(at: $0) }
        #expect(used == [false, true])
        // The next unit asks again.
        #expect(share.unitsLeft == 0)
    }

    @Test("each turn runs one callback of those that wait for the next turn", arguments: Driver.allCases)
    func progress(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.core.setTurnShare(.zero, stride: 0)
            var order: [Int] = []
            var goesOn = true
            func storm() { if goesOn { loop.later(storm) } }
            storm()
            for number in 0..<20 { loop.later(on: .nextTurn) { order.append(number) } }
            loop.later(on: .nextTurn) { goesOn = false }
            try loop.run()
            #expect(order == Array(0..<20))
        }
    }

    @Test("on virtual time a turn has all the time of the world, since no clock moves within it")
    func virtualTime() throws {
        try withLoop(.virtual) { loop in
            var turns: Set<UInt64> = []
            for _ in 0..<1000 {
                loop.later {
                    let end = ContinuousClock.now + .microseconds(10)
                    while .now < end {}
                    turns.insert(loop.statistics.turns)
                }
            }
            try loop.run()
            #expect(turns.count == 1)
        }
    }
}
