import Futures
import Testing

struct ContextsTests {
    @Test(
        "without a context a callback runs on the loop's default at registration", arguments: Driver.allCases)
    func defaultContext(driver: Driver) throws {
        try withLoop(driver) { loop in
            #expect(loop.defaultContext == .loop)
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for context in LocalContextTests.contexts {
                loop.defaultContext = context
                promise.future.whenSuccess { _ in seen.add("\(context): \(loop.currentContext)") }
                promise.future.whenSuccess(on: .loop) { _ in
                    seen.add("\(context), given: \(loop.currentContext)")
                }
            }
            loop.defaultContext = .default
            #expect(loop.defaultContext == .loop)
            promise.succeed(1)
            try pass(.ticks(1), on: loop)
            let given = LocalContextTests.contexts.map { "\($0), given: loop" }
            #expect(
                Set(seen.entries) == Set(LocalContextTests.contexts.map { "\($0): \($0)" } + given))
            #expect(seen.entries.count == 8)
        }
    }

    @Test(
        "the current context is that of the callback that registers, and the ready queue outside of callbacks",
        arguments: Driver.allCases)
    func currentContext(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenSuccess(on: .current) { _ in seen.add("outside: \(loop.currentContext)") }
            for context in LocalContextTests.contexts {
                loop.submit(on: context) {
                    promise.future.whenSuccess(on: .current) { _ in
                        seen.add("\(context): \(loop.currentContext)")
                    }
                }.whenComplete { _ in }
            }
            #expect(loop.currentContext == .loop)
            try pass(.ticks(1), on: loop)
            promise.succeed(1)
            try pass(.ticks(1), on: loop)
            #expect(
                seen.entries == [
                    "immediate: immediate", "outside: loop", "loop: loop", "nextTurn: nextTurn",
                    "whenIdle: whenIdle",
                ])
        }
    }

    @Test(
        "with the current context as default, what a callback starts stays where it runs",
        arguments: Driver.allCases)
    func currentAsDefault(driver: Driver) throws {
        try withLoop(driver) { loop in
            loop.defaultContext = .current
            #expect(loop.defaultContext == .current)
            let seen = Record()
            loop.submit(on: .immediate) {
                let inner = loop.succeeded(1).map { _ in seen.add(loop.currentContext) }
                #expect(inner.isCompleted)
            }.whenComplete { _ in }
            loop.submit(on: .nextTurn) {
                loop.succeeded(1).whenSuccess { _ in seen.add(loop.currentContext) }
            }.whenComplete { _ in }
            loop.submit { seen.add(loop.currentContext) }.whenComplete { _ in }
            #expect(seen.entries == ["immediate"])
            try pass(.ticks(2), on: loop)
            #expect(seen.entries == ["immediate", "loop", "nextTurn"])
        }
    }
}
