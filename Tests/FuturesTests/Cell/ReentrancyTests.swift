import Futures
import Testing

/// Releasing a closure or a value runs the `deinit` of what it holds: code of the user, at any point.
struct ReentrancyTests {
    @Test("a future cancelled in the deinit of another's handler stays cancelled", arguments: Driver.allCases)
    func cancelsSibling(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let first = promise.future.recover { _ in 0 }
            let second = promise.future.recover { _ in 0 }
            func setHandler() {
                let witness = Witness { seen.add("\(second.cancel()) \(second)") }
                promise.onCancelRequest {
                    witness.look()
                    return .cancel
                }
            }
            setHandler()
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries.count == 1)
            #expect(seen.entries[0] == "true \(second)" || seen.entries[0] == "false \(second)")
            try expect(first, succeedsWith: 1)
        }
    }

    @Test("a callback registered in a deinit keeps the order of registration", arguments: Driver.allCases)
    func registers(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            let future = promise.future
            func derive() {
                let witness = Witness { future.whenComplete { _ in seen.add(3) } }
                promise.onCancelRequest {
                    witness.look()
                    return .cancel
                }
                _ = future.recover { _ in
                    witness.look()
                    return 0
                }
            }
            derive()
            future.whenComplete { _ in seen.add(1) }
            future.whenComplete { _ in seen.add(2) }
            promise.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["1", "2", "3"])
        }
    }

    @Test("a callback registered in the midst of a cancellation is called", arguments: Driver.allCases, 0..<3)
    func registersOnCancelledPath(driver: Driver, position: Int) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            var chain = [promise.future]
            func derive() {
                let witness = Witness { chain[position + 1].whenComplete { seen.add($0) } }
                chain.append(
                    chain[0].map { value in
                        witness.look()
                        return value
                    })
            }
            derive()
            for _ in 0..<3 { chain.append(chain.last!.map { $0 }) }
            #expect(chain.last!.cancel())
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
            chain = []
        }
    }

    @Test("a deinit may complete, cancel and drop what is around it", arguments: Driver.allCases, 0..<5)
    func acts(driver: Driver, action: Int) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.onUnhandledFailure = { _ in }
            var promise: Promise<Int>?
            let other = loop.makePromise(of: Int.self)
            var derived: [Future<Int>] = []
            func act() {
                switch action {
                case 0: promise?.succeed(2)
                case 1: promise = nil
                case 2: for future in derived { future.cancel() }
                case 3: derived = []
                default: if let promise { other.complete(using: promise.future) }
                }
            }
            func derive() {
                let witness = Witness {
                    act()
                    seen.add("released")
                }
                for _ in 0..<3 {
                    derived.append(
                        promise!.future.map { value in
                            witness.look()
                            return value
                        }.recover { _ in
                            witness.look()
                            return 0
                        })
                }
            }
            for end in 0..<4 {
                promise = loop.makePromise(of: Int.self)
                derive()
                for future in derived { future.whenComplete { _ in seen.add("end") } }
                switch end {
                case 0: promise!.succeed(1)
                case 1: promise!.fail(Failure())
                case 2: promise!.cancel()
                default: promise = nil
                }
                derived = []
                try settle(loop)
            }
            #expect(seen.entries.filter { $0 == "released" }.count == 4)
            #expect(seen.entries.filter { $0 == "end" }.count == 12)
            other.succeed(0)
            promise?.cancel()
            promise = nil
        }
    }

    @Test("a value whose deinit completes the next promise frees a chain of them", arguments: Driver.allCases)
    func chainOfValues(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var next: Promise<Witness>? = loop.makePromise(of: Witness.self)
            let last = next!.future
            last.whenComplete { _ in seen.add("completed") }
            for index in 0..<100 {
                let following = next!
                let promise = loop.makePromise(of: Witness.self)
                promise.onCancelRequest { .cancel }
                let witness = Witness {
                    seen.add(index)
                    following.succeed(Witness())
                }
                promise.succeed(witness)
                next = promise
            }
            next = nil
            try settle(loop)
            #expect(seen.entries.count == 101)
        }
    }

    @Test("the loser's handler may cancel what waits for the race", arguments: Driver.allCases)
    func loserCancelsWinner(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let (winner, loser) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let race = Future.race([winner.future, loser.future])
            let derived = race.recover { _ in 0 }
            loser.onCancelRequest {
                seen.add("\(derived.cancel()) \(derived)")
                return .cancel
            }
            winner.succeed(1)
            try settle(loop)
            #expect(seen.entries == ["true \(derived)"] || seen.entries == ["false \(derived)"])
            #expect(derived.isCompleted)
        }
    }

    @Test(
        "an outcome that is released after it was handed on may complete others in its deinit",
        arguments: Driver.allCases)
    func completesInDeinit(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let (first, last) = (loop.makePromise(of: Witness.self), loop.makePromise(of: Int.self))
            for index in 0..<2 { last.future.whenSuccess { seen.add("\(index): \($0)") } }
            var dropped: Promise<Witness>? = loop.makePromise(of: Witness.self)
            dropped!.future.recover { throw $0 }.ignoreFailure()
            // The replacement is released while the outcome of `first` is handed on, the other value thereafter.
            let limited = first.future.timeout(
                after: .seconds(1),
                with: .success(
                    Witness {
                        dropped!.succeed(Witness { last.succeed(1) })
                        dropped = nil
                    }))
            first.succeed(Witness())
            #expect(limited.isSuccess && dropped == nil)
            try settle(loop)
            #expect(seen.entries == ["0: 1", "1: 1"])
        }
    }
}
