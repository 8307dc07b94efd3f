import Futures
import Testing

struct TokenConditionTests {
    @Test("either of two tokens cancels the one that stands for both, once", arguments: Driver.allCases)
    func either(driver: Driver) throws {
        try withLoop(driver) { loop in
            for isFirst in [true, false] {
                let seen = Record()
                let (first, second) = (CancellationSource(on: loop), CancellationSource(on: loop))
                let token = first.token || second.token
                token.onCancel { seen.add("cancelled") }
                let future = loop.makePromise(of: Int.self)
                let derived = future.future.map(token: token) { $0 }
                (isFirst ? first : second).cancel()
                #expect(token.isCancelled)
                #expect("\(derived)" == "Future(cancelled)")
                (isFirst ? second : first).cancel()
                token.onCancel { seen.add("late") }
                try settle(loop)
                #expect(seen.entries == ["cancelled", "late"])
            }
        }
    }

    @Test(
        "all of the tokens cancel the one that stands for all, the last of them", arguments: Driver.allCases)
    func every(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let sources = (0..<3).map { _ in CancellationSource(on: loop) }
            let token = CancellationToken.all(of: sources.map(\.token))
            token.onCancel { seen.add("cancelled") }
            let promise = loop.makePromise(of: Int.self)
            let derived = promise.future.map(token: token) { $0 }
            sources[2].cancel()
            sources[0].cancel()
            token.onCancel { seen.add("late") }
            #expect(!token.isCancelled && !derived.isCompleted)
            sources[1].cancel()
            #expect(token.isCancelled)
            #expect("\(derived)" == "Future(cancelled)")
            try settle(loop)
            #expect(seen.entries.sorted() == ["cancelled", "late"])
        }
    }

    @Test(
        "a token of all is given up when one of them is dropped, a token of any when all are",
        arguments: Driver.allCases)
    func combinedDrop(driver: Driver) throws {
        try withLoop(driver) { loop in
            var released: [String] = []
            var first: CancellationSource? = CancellationSource(on: loop)
            var second: CancellationSource? = CancellationSource(on: loop)
            let both = first!.token && second!.token
            let either = first!.token || second!.token
            do {
                let (one, other) = (
                    Witness { released.append("both") }, Witness { released.append("either") }
                )
                both.onCancel { one.look() }
                either.onCancel { other.look() }
            }
            first = nil
            #expect(released == ["both"])
            second = nil
            #expect(released == ["both", "either"])
            #expect(!both.isCancelled && !either.isCancelled)
        }
    }

    @Test("combined tokens can be combined, and need not be held", arguments: Driver.allCases)
    func nested(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let sources = (0..<4).map { _ in CancellationSource(on: loop) }
            func token(_ index: Int) -> CancellationToken { sources[index].token }
            ((token(0) && token(1)) || (token(2) && token(3))).onCancel { seen.add("cancelled") }
            sources[0].cancel()
            sources[2].cancel()
            try settle(loop)
            #expect(seen.entries.isEmpty)
            sources[3].cancel()
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
            sources[1].cancel()
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
        }
    }

    @Test("tokens that are cancelled or given up already count when tokens are combined")
    func combinedLate() throws {
        try withLoop(.virtual) { loop in
            let (over, other) = (CancellationSource(on: loop), CancellationSource(on: loop))
            over.cancel()
            let dropped = CancellationSource(on: loop).token
            #expect((over.token || other.token).isCancelled && (other.token || over.token).isCancelled)
            #expect((over.token && over.token).isCancelled && !(over.token && dropped).isCancelled)
            let both = over.token && other.token
            let either = dropped || other.token
            #expect(!both.isCancelled && !either.isCancelled)
            var released = 0
            do {
                let witness = Witness { released += 1 }
                (dropped && other.token).onCancel { witness.look() }
                (dropped || dropped).onCancel { witness.look() }
            }
            #expect(released == 1)
            other.cancel()
            #expect(both.isCancelled && either.isCancelled)
        }
    }
}
