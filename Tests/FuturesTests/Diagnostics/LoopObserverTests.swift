import Futures
import FuturesTesting
import Testing

struct LoopObserverTests {
    @Test("each turn is told, with what it took, how many callbacks it ran, and how late its timers were")
    func turns() throws {
        try withLoop(.virtual) { loop in
            var told: [String] = []
            loop.observe { event in
                if case .turnEnded(let duration, let callbacks, let lag) = event {
                    told.append("\(duration) \(callbacks) \(lag)")
                }
            }
            loop.schedule(after: .seconds(1)) { loop.advanceWithoutRunning(by: .milliseconds(3)) }
            loop.schedule(after: .milliseconds(1_001)) {}
            loop.advance(by: .seconds(2))
            #expect(told.contains("0.003 seconds 1 0.0 seconds"))
            #expect(told.last == "0.0 seconds 1 0.002 seconds")
            let count = told.count
            loop.observe(nil)
            loop.submit {}.ignoreFailure()
            loop.advance(by: .zero)
            #expect(told.count == count)
        }
    }

    @Test("another observer takes the place of the first, which is released; it hears of unhandled failures")
    func replacing() throws {
        try withLoop(.virtual) { loop in
            weak var released: Note?
            do {
                let note = Note()
                released = note
                loop.observe { _ in _ = note }
            }
            #expect(released != nil)
            var failures: [String] = []
            loop.observe { if case .unhandledFailure(let error) = $0 { failures.append("\(error)") } }
            #expect(released == nil)
            loop.onUnhandledFailure = { _ in }
            _ = loop.failed(FutureError.message("nobody listens"), of: Void.self)
            loop.advance(by: .zero)
            #expect(failures == ["nobody listens"])
            loop.observe(nil)
        }
    }

    @Test("a turn that takes more than a tenth of a second is a warning, once a minute")
    func slowTurns() throws {
        try withLoop(.virtual) { loop in
            var warnings: [String] = []
            loop.observe { if case .warning(let text) = $0 { warnings.append(text) } }
            func take(_ time: Duration, at seconds: Int) {
                loop.schedule(after: .seconds(seconds)) { loop.advanceWithoutRunning(by: time) }
            }
            take(.milliseconds(100), at: 1)
            take(.milliseconds(101), at: 2)
            take(.seconds(1), at: 3)
            take(.milliseconds(102), at: 61)
            take(.milliseconds(103), at: 63)
            loop.advance(by: .seconds(100))
            func text(_ time: String) -> String {
                "a turn took \(time) seconds, and everything else waited; onSlowCallback says how long each of its 1 "
                    + "callbacks takes"
            }
            #expect(warnings == [text("0.101"), text("0.103")])
            loop.observe(nil)
        }
    }

    private final class Note {}
}
