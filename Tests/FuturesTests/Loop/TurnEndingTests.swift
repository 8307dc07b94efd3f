import FuturesTesting
import Testing

@testable import Futures

/// An object that counts the ends of turns, and asks for the next as often as it is told.
private final class Ending: TurnEnding {
    private let note: () -> Void
    init(_ note: @escaping () -> Void) { self.note = note }
    func turnEnds() { note() }
}

struct TurnEndingTests {
    @Test("the end of a turn comes after all its callbacks, once, in the order of asking")
    func order() {
        let loop = EventLoop.virtual()
        var said: [String] = []
        let (first, second) = (Ending { said.append("first") }, Ending { said.append("second") })
        loop.later {
            loop.core.atTurnEnd(first)
            loop.core.atTurnEnd(second)
            loop.later { said.append("callback") }
        }
        loop.advance(by: .zero)
        #expect(said == ["callback", "first", "second"])
        loop.later { said.append("another turn") }
        loop.advance(by: .zero)
        #expect(said == ["callback", "first", "second", "another turn"])
    }

    @Test(
        "outside of a turn there will be one; what an end asks for belongs to the same end, and callbacks to the next turn"
    )
    func again() {
        let loop = EventLoop.virtual()
        var said: [String] = []
        let last = Ending { said.append("last") }
        let first = Ending {
            said.append("first")
            loop.later { said.append("callback") }
            loop.core.atTurnEnd(last)
        }
        loop.core.atTurnEnd(first)
        #expect(said.isEmpty)
        loop.advance(by: .zero)
        #expect(said == ["first", "last", "callback"])
    }

    @Test("ends that ask for ends again and again let callbacks have their turn")
    func endless() {
        let loop = EventLoop.virtual()
        var (ends, endsBefore) = (0, 0)
        var ending: Ending?
        ending = Ending {
            if ends == 0 { loop.later { endsBefore = ends } }
            ends += 1
            if ends < 100 { loop.core.atTurnEnd(ending!) }
        }
        loop.core.atTurnEnd(ending!)
        loop.advance(by: .zero)
        #expect(ends == 100 && endsBefore < 10)
        ending = nil
    }

    private final class Releasing: TurnEnding {
        private let note: () -> Void
        init(_ note: @escaping () -> Void) { self.note = note }
        func turnEnds() {}
        deinit { note() }
    }

    @Test("an object that is released at the end of a turn may ask for an end")
    func released() {
        let loop = EventLoop.virtual()
        var said: [String] = []
        let last = Ending { said.append("last") }
        loop.core.atTurnEnd(Releasing { loop.core.atTurnEnd(last) })
        loop.advance(by: .zero)
        #expect(said == ["last"])
    }

    @Test(
        "what reports and observers ask for at the very end belongs to a turn that comes",
        arguments: [false, true])
    func veryEnd(byObserver: Bool) {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        var said: [String] = []
        let last = Ending { said.append("last") }
        if byObserver {
            loop.observe { _ in if said.isEmpty { loop.core.atTurnEnd(last) } }
        } else {
            loop.onUnhandledFailure = { _ in loop.core.atTurnEnd(last) }
        }
        loop.later { _ = loop.failed(FutureError.shutDown, of: Int.self) }
        loop.advance(by: .zero)
        #expect(said.first == "last")
    }

    @Test("an object that asks for the end of a turn when its loop has none any more is released")
    func shutdown() {
        let loop = EventLoop.virtual()
        weak var kept: Ending?
        do {
            let late = Ending { Issue.record("no turn ends any more") }
            kept = late
            let witness = Witness { loop.core.atTurnEnd(late) }
            loop.onUnhandledFailure = { _ in witness.look() }
        }
        #expect(kept != nil)
        loop.shutdown()
        #expect(kept == nil)
    }
}
