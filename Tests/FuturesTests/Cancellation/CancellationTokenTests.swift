import Futures
import TestSupport
import Testing

/// Sources, tokens and their handlers. What tokens do to futures is in `TokenRegistrationTests`.
struct CancellationTokenTests {
    @Test("a source is cancelled once, and so are its tokens", arguments: Driver.allCases)
    func cancelOnce(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            let token = source.token
            token.onCancel { seen.add("cancelled") }
            #expect(!source.isCancelled && !token.isCancelled)
            #expect(source.cancel())
            #expect(source.isCancelled && token.isCancelled)
            #expect(!source.cancel())
            #expect(seen.entries.isEmpty)
            try settle(loop)
            #expect(seen.entries == ["cancelled"])
        }
    }

    @Test("handlers of a source that is dropped are released unrun", arguments: Driver.allCases)
    func dropSource(driver: Driver) throws {
        try withLoop(driver) { loop in
            var released = 0
            var source: CancellationSource? = CancellationSource(on: loop)
            let token = source!.token
            var registrations: [CancellationRegistration] = []
            for _ in 0..<2 {
                let witness = Witness { released += 1 }
                registrations.append(token.onCancel { witness.look() })
            }
            #expect(released == 0)
            source = nil
            #expect(released == 2)
            #expect(!token.isCancelled)
            // Nobody is left who could cancel it.
            do {
                let witness = Witness { released += 1 }
                token.onCancel { witness.look() }
            }
            #expect(released == 3)
            registrations[0].unregister()
            try expect(loop.succeeded(1).map(token: token) { $0 + 1 }, succeedsWith: 2)
        }
    }

    @Test("handlers run in order, each on its context, late ones too", arguments: Driver.allCases)
    func handlerOrder(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            func see(_ name: String) -> () -> Void { { seen.add("\(name) \(loop.currentContext)") } }
            source.token.onCancel(on: .nextTurn, see("a"))
            source.token.onCancel(see("b"))
            source.token.onCancel(see("c"))
            source.token.onCancel(on: .immediate, see("d"))
            source.cancel()
            #expect(seen.entries == ["d immediate"])
            source.token.onCancel(see("e"))
            #expect(seen.entries.count == 1)
            source.token.onCancel(on: .immediate, see("f"))
            try pass(.ticks(1), on: loop)
            #expect(
                seen.entries == ["d immediate", "f immediate", "b loop", "c loop", "e loop", "a nextTurn"])
        }
    }

    @Test(
        "a handler that is unregistered is released, and does not run; others do", arguments: Driver.allCases)
    func unregister(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let source = CancellationSource(on: loop)
            var isReleased = false
            let first: CancellationRegistration
            do {
                let witness = Witness { isReleased = true }
                first = source.token.onCancel { witness.look() }
            }
            let second = source.token.onCancel { seen.add("second") }
            let third = source.token.onCancel { seen.add("third") }
            first.unregister()
            #expect(isReleased)
            first.unregister()
            source.cancel()
            // On its way, but it has not run yet.
            second.unregister()
            try settle(loop)
            #expect(seen.entries == ["third"])
            third.unregister()
            try settle(loop)
            #expect(seen.entries == ["third"])
        }
    }

    @Test("the empty token is never cancelled and keeps no handler", arguments: Driver.allCases)
    func none(driver: Driver) throws {
        try withLoop(driver) { loop in
            var released = 0
            for token in [
                CancellationToken.none, .any(of: []), .all(of: []), .any(of: [.none]),
                .all(of: [.none, CancellationSource(on: loop).token]),
            ] {
                do {
                    let witness = Witness { released += 1 }
                    token.onCancel { witness.look() }.unregister()
                }
                #expect(!token.isCancelled)
                try expect(loop.submit(token: token) { 1 }, succeedsWith: 1)
            }
            #expect(released == 5)
        }
    }

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

    @Test("handlers may register, cancel and drop sources", arguments: Driver.allCases)
    func reentrancy(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            var source: CancellationSource? = CancellationSource(on: loop)
            let other = CancellationSource(on: loop)
            let token = source!.token
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                // Within the cancellation of another token.
                other.cancel()
                return .cancel
            }
            let inner = loop.succeeded(1).flatMap(token: token) { _ in promise.future }
            other.token.onCancel { seen.add("other") }
            token.onCancel(on: .immediate) {
                seen.add("\(inner), \(other.isCancelled)")
                source = nil
                token.onCancel { seen.add("registered by a handler") }
            }
            try settle(loop)
            source!.cancel()
            try settle(loop)
            #expect(seen.entries == ["Future(cancelled), true", "other", "registered by a handler"])
        }
    }

    @Test("a token that lives long keeps nothing of what has ended", arguments: Driver.allCases)
    func noGrowth(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let empty = loop.statistics.futures
            var released = 0
            let rounds = largeCount
            for round in 0..<rounds {
                let promise = loop.makePromise(of: Int.self)
                let witness = Witness { released += 1 }
                let short = CancellationSource(on: loop)
                let token = source.token || short.token
                switch round % 4 {
                case 0: promise.future.whenComplete(token: token) { _ in witness.look() }
                case 1: promise.future.map(token: token) { _ in witness.look() }.whenComplete { _ in }
                case 2:
                    promise.future.flatMap(token: token) { _ in loop.succeeded(witness.look()) }
                        .ignoreFailure()
                default: token.onCancel { witness.look() }.unregister()
                }
                promise.succeed(1)
                if round % 1000 == 0 { try settle(loop) }
            }
            try settle(loop)
            #expect(released == rounds)
            #expect(loop.statistics.futures == empty)
            source.cancel()
        }
    }
}
