import Futures
import FuturesTesting
import Testing

struct LoopObserverTests {
    @Test("each turn is told, with what it took, how many callbacks it ran, and how late its timers were")
    func turns() throws {
        try withLoop(.virtual) { loop in
            var told: [String] = []
            let source = CancellationSource(on: loop)
            loop.observe(token: source.token) { event in
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
            source.cancel()
            loop.submit {}.ignoreFailure()
            loop.advance(by: .zero)
            #expect(told.count == count)
        }
    }

    @Test(
        "each of several observers is told, in their order, until its token is cancelled, and is then released"
    )
    func several() throws {
        try withLoop(.virtual) { loop in
            var told: [String] = []
            weak var released: Note?
            let (first, second) = (CancellationSource(on: loop), CancellationSource(on: loop))
            do {
                let note = Note()
                released = note
                loop.observe(token: first.token) { event in
                    withExtendedLifetime(note) {}
                    if case .warning(let text) = event { told.append("1 \(text)") }
                }
            }
            loop.observe(token: second.token) { event in
                guard case .warning(let text) = event else { return }
                told.append("2 \(text)")
                // Both end while events are told: an observer may end itself and others.
                if text == "b" {
                    first.cancel()
                    second.cancel()
                }
            }
            loop.observe { if case .warning(let text) = $0 { told.append("3 \(text)") } }
            for text in ["a", "b", "c"] {
                loop.withCore { $0.tell(.warning(text)) }
                #expect((released == nil) == (text != "a"))
            }
            #expect(told == ["1 a", "2 a", "3 a", "1 b", "2 b", "3 b", "3 c"])
            loop.observe(token: first.token) { _ in Issue.record("its token had been cancelled") }
            loop.withCore { $0.tell(.warning("d")) }
        }
    }

    @Test("an observer hears of unhandled failures, and goes with the loop, though its token is kept")
    func end() throws {
        weak var released: Note?
        var failures: [String] = []
        let loop = EventLoop.virtual()
        let source = CancellationSource(on: loop)
        do {
            let note = Note()
            released = note
            loop.observe(token: source.token) { event in
                withExtendedLifetime(note) {}
                if case .unhandledFailure(let error) = event { failures.append("\(error)") }
            }
        }
        loop.onUnhandledFailure = { _ in }
        _ = loop.failed(FutureError.message("nobody listens"), of: Void.self)
        loop.advance(by: .zero)
        #expect(failures == ["nobody listens"])
        #expect(released != nil)
        loop.shutdown()
        #expect(released == nil)
        source.cancel()
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
            take(.milliseconds(101), at: 62)
            loop.advance(by: .seconds(100))
            func text(_ time: String) -> String {
                "a turn took \(time) seconds, and everything else waited; onSlowCallback says how long each of its 1 "
                    + "callbacks takes"
            }
            #expect(warnings == [text("0.101"), text("0.101")])
        }
    }

    private final class Note {}
}
