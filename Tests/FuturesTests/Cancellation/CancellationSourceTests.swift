import Futures
import Testing

struct CancellationSourceTests {
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

    @Test("a source that is cancelled by the release of a value ends at once what hangs on it")
    func cancelledByRelease() throws {
        try withLoop(.virtual) { loop in
            let source = CancellationSource(on: loop)
            let derived = loop.never(of: Int.self).map(token: source.token) { $0 }
            var isCancelled: Bool?
            var value: Future<Witness>? = loop.succeeded(
                Witness {
                    source.cancel()
                    isCancelled = derived.isCancelled
                })
            withExtendedLifetime(value) {}
            value = nil
            #expect(isCancelled == true)
        }
    }
}
