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

    @Test("outside of a turn there will be one, and what an end asks for belongs to the same end")
    func again() {
        let loop = EventLoop.virtual()
        var said: [String] = []
        let last = Ending { said.append("last") }
        let first = Ending {
            said.append("first")
            loop.core.atTurnEnd(last)
        }
        loop.core.atTurnEnd(first)
        #expect(said.isEmpty)
        loop.advance(by: .zero)
        #expect(said == ["first", "last"])
    }

    @Test("callbacks that become ready at the end of a turn run in the next one")
    func callbacks() {
        let loop = EventLoop.virtual()
        var said: [String] = []
        let last = Ending { said.append("last") }
        let first = Ending {
            said.append("first")
            loop.later { said.append("callback") }
            loop.core.atTurnEnd(last)
        }
        loop.core.atTurnEnd(first)
        loop.advance(by: .zero)
        #expect(said == ["first", "last", "callback"])
    }
}
