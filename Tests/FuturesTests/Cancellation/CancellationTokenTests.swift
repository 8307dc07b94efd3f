import Futures
import Testing

/// Tokens and their handlers. What tokens do to futures is in `TokenTests`.
struct CancellationTokenTests {
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
}
