import Futures
import TestSupport
import Testing

struct DisposeBagTests {
    @Test("a bag disposes of all in order, when told so or when released, and can be filled again")
    func bag() {
        let seen = Record()
        var bag: DisposeBag? = DisposeBag()
        bag!.add(Disposer { seen.add(1) })
        bag!.add { [unowned bag] in
            seen.add(2)
            bag!.add { seen.add("added meanwhile") }
            bag!.dispose()
            bag!.add { seen.add("stays") }
        }
        let inner = bag!.innerBag()
        inner.add { seen.add(3) }
        bag!.dispose()
        #expect(seen.entries == ["1", "2", "added meanwhile", "3"])
        #expect(!bag!.isEmpty && inner.isEmpty)
        inner.add { seen.add("inner") }
        inner.dispose()
        bag = nil
        #expect(seen.entries.suffix(2) == ["inner", "stays"])
    }

    @Test("any number of bags inside each other ends in order, without a stack", arguments: [false, true])
    func nested(isReleased: Bool) throws {
        try onSmallStack(.virtual) { _ in
            var seen: [Int] = []
            var bag: DisposeBag? = DisposeBag()
            var last = bag!
            for index in 0..<largeCount {
                last.add { seen.append(index) }
                last = last.innerBag()
            }
            last = DisposeBag()
            if !isReleased { bag!.dispose() }
            bag = nil
            #expect(seen == Array(0..<largeCount))
        }
    }

    @Test("a bag keeps objects alive until then")
    func hold() {
        var released = 0
        let bag = DisposeBag()
        bag.hold(Witness { released += 1 })
        #expect(released == 0)
        bag.dispose()
        #expect(released == 1)
    }

    @Test(
        "a bag cancels futures that are pending, unless others wait, and keeps none alive",
        arguments: Driver.allCases)
    func futures(driver: Driver) throws {
        try withLoop(driver) { loop in
            let bag = DisposeBag()
            let promise = loop.makePromise(of: Int.self)
            let mapped = promise.future.map { $0 }
            bag.add(mapped)
            let shared = loop.makePromise(of: Int.self)
            shared.future.whenSuccess { _ in }
            bag.add(shared.future)
            bag.add(loop.succeeded(1))
            bag.add(loop.makePromise(of: Int.self).future)
            for _ in 0..<1_000 { bag.add(loop.submit {}) }
            try settle(loop)
            #expect(loop.statistics.futures == 4)
            bag.dispose()
            #expect(bag.isEmpty)
            #expect("\(mapped) \(promise.future)" == "Future(cancelled) Future(cancelled)")
            #expect(!shared.future.isCompleted)
            shared.succeed(1)
        }
    }

    @Test("a bag keeps what is pending when it forgets what has completed", arguments: Driver.allCases)
    func growth(driver: Driver) throws {
        try withLoop(driver) { loop in
            let bag = DisposeBag()
            var seen = Record()
            bag.add { seen.add("kept") }
            let pending = loop.makePromise(of: Int.self)
            bag.add(pending.future)
            for _ in 0..<31 { bag.add(loop.submit {}) }
            try settle(loop)
            bag.add(loop.submit {})
            #expect(!pending.future.isCompleted)
            bag.dispose()
            #expect(pending.future.isCompleted && seen.entries == ["kept"])
            seen = Record()
            for _ in 0..<100 { bag.add { seen.add("kept") } }
            bag.dispose()
            #expect(seen.entries.count == 100)
        }
    }
}
