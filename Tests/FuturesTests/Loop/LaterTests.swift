import Futures
import TestSupport
import Testing

struct LaterTests {
    @Test(
        "a closure for later runs after what was ready before, and never inside the call",
        arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            var seen: [String] = []
            loop.defaultContext = .immediate
            loop.succeeded().whenSuccess(on: .loop) { seen.append("before") }
            loop.later {
                seen.append("later")
                loop.later { seen.append("nested") }
            }
            loop.succeeded().whenSuccess(on: .loop) { seen.append("after") }
            #expect(seen.isEmpty)
            try settle(loop)
            try loop.run()
            #expect(seen == ["before", "later", "after", "nested"])
        }
    }

    @Test(
        "each context takes a closure for later, and the loop runs until that has run",
        arguments: Driver.allCases, [LocalContext.loop, .immediate, .nextTurn, .whenIdle])
    func contexts(driver: Driver, context: LocalContext) throws {
        try withLoop(driver) { loop in
            var seen: [LocalContext] = []
            loop.later(on: context) { seen.append(loop.currentContext) }
            try loop.run()
            #expect(seen == [context])
        }
    }

    @Test("a body gives the loop closures for later", arguments: Driver.allCases)
    func body(driver: Driver) throws {
        try withLoop(driver) { loop in
            var seen: [Int] = []
            let body = Future(on: loop) {
                loop.later { seen.append(1) }
                #expect(seen.isEmpty)
                try await loop.sleep(for: .ticks(1)).value
                return seen
            }
            let found = try loop.run(until: body)
            #expect(found == [1])
        }
    }

    @Test(
        "a loop that is shut down runs what it was given before, and releases the rest unrun",
        arguments: Driver.allCases)
    func shutDown(driver: Driver) throws {
        try withLoop(driver) { loop in
            var (seen, unhandled) = ([Int](), [any Error]())
            loop.onUnhandledFailure = { unhandled.append($0) }
            loop.later { seen.append(1) }
            loop.shutdown()
            weak var kept: AnyObject?
            do {
                let object = Counter()
                kept = object
                loop.later { object.count += 1 }
                #expect(object.count == 0)
            }
            #expect(kept == nil)
            #expect(seen == [1])
            #expect(unhandled.isEmpty)
        }
    }

    private final class Counter { var count = 0 }
}
