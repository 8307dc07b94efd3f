import Futures
import FuturesTesting
import Testing

struct SlowCallbacksTests {
    @Test("a callback that takes longer than the threshold is reported, with its time")
    func reported() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.onSlowCallback(longerThan: .milliseconds(20)) { seen.add($0.duration) }
            loop.succeeded(1).whenSuccess { _ in loop.advanceWithoutRunning(by: .milliseconds(30)) }
            loop.succeeded(1).whenSuccess { _ in loop.advanceWithoutRunning(by: .milliseconds(20)) }
            loop.execute { loop.advanceWithoutRunning(by: .milliseconds(40)) }
            loop.schedule(after: .milliseconds(1)) { loop.advanceWithoutRunning(by: .milliseconds(50)) }
            try pass(.seconds(1), on: loop)
            #expect(seen.entries == ["0.03 seconds", "0.04 seconds", "0.05 seconds"])
            loop.onSlowCallback(nil)
            loop.execute { loop.advanceWithoutRunning(by: .seconds(1)) }
            try settle(loop)
            #expect(seen.entries.count == 3)
        }
    }

    @Test("a hundred milliseconds are slow, and a report may take its time and end itself")
    func reentrant() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            loop.onSlowCallback {
                seen.add($0.duration)
                loop.advanceWithoutRunning(by: .seconds(1))
                if seen.entries.count == 2 { loop.onSlowCallback(nil) }
            }
            for milliseconds in [100, 101, 0, 102, 103] {
                loop.execute { loop.advanceWithoutRunning(by: .milliseconds(milliseconds)) }
            }
            try settle(loop)
            #expect(seen.entries == ["0.101 seconds", "0.102 seconds"])
        }
    }

    @Test("a slow callback is named by the method that it was given to and by its line, or by its body")
    func named() throws {
        try withLoop(.virtual) { loop in
            var seen: [SlowCallback] = []
            loop.onSlowCallback(longerThan: .milliseconds(20)) { seen.append($0) }
            _ = loop.succeeded(1).map { _ in loop.advanceWithoutRunning(by: .milliseconds(30)) }
            try settle(loop)
            _ = Future(on: loop) {
                try await loop.sleep(for: .milliseconds(1)).value
                loop.advanceWithoutRunning(by: .milliseconds(40))
                try await loop.sleep(for: .milliseconds(1)).value
            }
            try pass(.seconds(1), on: loop)
            try #require(seen.count == 2)
            #expect(seen[0].name == "map" && seen[1].name.hasPrefix("a body"))
            #expect(seen[1].description == "\(seen[1].name) took 0.04 seconds")
            #if DEBUG
                #expect(seen[0].description.hasPrefix("map at Diagnostics/SlowCallbacksTests.swift:"))
                #expect(seen[1].name.contains(" made at Diagnostics/SlowCallbacksTests.swift:"))
            #endif
        }
    }

    @Test("a slow body is named, though it waits for nothing of the loop afterwards")
    func namedBeforeOtherWaits() throws {
        try withLoop(.virtual) { loop in
            var seen: [String] = []
            var continuation: CheckedContinuation<Void, Never>?
            loop.onSlowCallback(longerThan: .milliseconds(20)) { seen.append($0.name) }
            let body = Future(on: loop) {
                try await loop.sleep(for: .milliseconds(1)).value
                loop.advanceWithoutRunning(by: .milliseconds(40))
                await withCheckedContinuation { continuation = $0 }
            }
            try pass(.seconds(1), on: loop)
            #expect(seen.count == 1 && seen.allSatisfy { $0.hasPrefix("a body") }, "\(seen)")
            try #require(continuation).resume()
            try loop.run(until: body)
            loop.onSlowCallback(nil)
        }
    }

    @Test("the beginning of a body is named, too, if the body waits afterwards")
    func namedAtBeginning() throws {
        try withLoop(.virtual) { loop in
            var seen: [String] = []
            loop.onSlowCallback(longerThan: .milliseconds(20)) { seen.append($0.name) }
            let body = Future(on: loop) {
                loop.advanceWithoutRunning(by: .milliseconds(40))
                try await loop.sleep(for: .milliseconds(1)).value
            }
            try loop.run(until: body)
            #expect(seen.count == 1 && seen.allSatisfy { $0.hasPrefix("a body") }, "\(seen)")
            loop.onSlowCallback(nil)
        }
    }

    @Test("a callback on a real clock is measured too")
    func real() throws {
        try withLoop(.libuv) { loop in
            let seen = Record()
            loop.onSlowCallback(longerThan: .zero) { seen.add($0.duration > .zero) }
            try settle(loop)
            #expect(seen.entries.contains("true"))
        }
    }

    @Test("a loop whose callbacks are watched takes as many turns as another")
    func equalTurns() throws {
        func countTurns(isWatched: Bool) throws -> UInt64 {
            var turns: UInt64 = 0
            try withLoop(.virtual) { loop in
                if isWatched { loop.onSlowCallback { _ in } }
                // Each makes a callback in a callback.
                for number in 1...10 { loop.schedule(after: .milliseconds(number)) { loop.later {} } }
                try pass(.seconds(1), on: loop)
                turns = loop.statistics.turns
            }
            return turns
        }
        let watched = try countTurns(isWatched: true)
        let plain = try countTurns(isWatched: false)
        #expect(watched == plain)
    }
}
