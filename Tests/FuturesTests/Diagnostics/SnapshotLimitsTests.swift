import Futures
import FuturesTesting
import Testing

/// How much a snapshot shows, and how it is laid out.
struct SnapshotLimitsTests {
    /// The texts of `item`, of its first part, of the first part of that, and so on.
    private func line(of item: LoopSnapshot.Item?) -> [String] {
        item.map { [$0.text] + line(of: $0.items.first) } ?? []
    }

    @Test("behind a body, 49 steps are shown, and what follows is left out", arguments: [48, 49, 50])
    func steps(count: Int) throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let last = (0..<count).reduce(promise.future) { future, _ in future.map { $0 } }
            let body = Future(on: loop) { try await last.value }
            try settle(loop)
            let texts = line(of: loop.snapshot().items.first)
            #expect(texts.filter { $0 == "for map" }.count == min(count, 49))
            #expect((texts.last == "for what is left out here") == (count > 48))
            promise.succeed(1)
            try expect(body, succeedsWith: 1)
        }
    }

    @Test("of bodies that a scope waits for, 49 are shown, and no more", arguments: [48, 49, 50])
    func bodies(count: Int) throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let last = (1..<count).reduce(promise.future) { last, _ in
                Future(on: loop) { try await last.value }
            }
            let scope = FutureScope(on: loop)
            scope.run { try await last.value }
            try settle(loop)
            let texts = line(of: loop.snapshot().items.first)
            #expect(texts.count == 1 + min(count, 49) + 1, "\(texts)")
            #expect((texts.last == "for what is left out here") == (count > 48), "\(texts)")
            promise.succeed(1)
            try loop.run(until: scope.ended)
        }
    }

    @Test("behind a promise, steps are shown to a depth of 20")
    func stepsOfPromise() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let last = (0..<30).reduce(promise.future) { future, _ in future.map { $0 } }
            let texts = line(of: loop.snapshot().items.first).dropFirst()
            #expect(Array(texts) == Array(repeating: "then map", count: 20))
            promise.succeed(1)
            try expect(last, succeedsWith: 1)
        }
    }

    @Test("the ten timers that are due next are shown")
    func timers() throws {
        try withLoop(.virtual) { loop in
            let timers = (1...12).map { loop.schedule(after: .seconds($0)) {} }
            let texts = loop.snapshot().items.map(\.text)
            #expect(texts.count == 10 && texts.last?.hasSuffix("due in 10.0 s") == true, "\(texts)")
            for timer in timers { timer.cancel() }
        }
    }

    @Test("a group that two bodies wait for is followed once if it has several members, otherwise twice")
    func groups() throws {
        for count in [1, 2] {
            try withLoop(.virtual) { loop in
                let promises = (0..<count).map { _ in loop.makePromise(of: Int.self) }
                let all = Future.all(promises.map(\.future))
                let first = Future(on: loop) { try await all.value.count }
                let second = Future(on: loop) { try await all.map { $0.count }.value }
                try settle(loop)
                let text = loop.dump()
                #expect(text.contains("a group, which is shown elsewhere") == (count == 2), "\(text)")
                for promise in promises { promise.succeed(1) }
                try expect(first, succeedsWith: count)
                try expect(second, succeedsWith: count)
            }
        }
    }

    @Test("parts are indented by two spaces each, below one line of figures, which a limit leaves")
    func layout() throws {
        try withLoop(.virtual) { loop in
            let scope = FutureScope(on: loop)
            let inner = scope.add(FutureScope(on: loop))
            let name = "never(), which nothing completes"
            for _ in 0..<2 { inner.add(loop.never(of: Int.self)) }
            let snapshot = loop.snapshot()
            let lines = snapshot.text().split(separator: "\n").dropFirst()
            #expect(lines.map { $0.prefix { $0 == " " }.count } == [0, 2, 4], "\(snapshot)")
            #expect(lines.last?.hasPrefix("    \(name)") == true)
            #expect(lines.last?.hasSuffix("(2 of them)") == true)
            for limit in 0...2 {
                let shown = snapshot.text(limit: limit).split(separator: "\n")
                #expect(shown.count == max(limit, 1) + 1)
                #expect(shown.last == "… and \(4 - max(limit, 1)) more lines")
            }
            scope.cancel()
            try loop.run(until: scope.ended)
            let promise = loop.makePromise(of: Int.self)
            #expect(loop.dump(limit: 1).split(separator: "\n").last == "… and 1 more lines")
            promise.cancel()
        }
    }

    @Test("a body says that it runs now, if it makes the snapshot")
    func runningBody() throws {
        try withLoop(.virtual) { loop in
            let waiting = Future(on: loop) { try await loop.sleep(for: .seconds(1)).value }
            let body = Future(on: loop) { "\(loop.snapshot())" }
            let text = try loop.run(until: body)
            #expect(text.contains("a body") && text.contains("which runs now"), "\(text)")
            try settle(loop)
            #expect(!"\(loop.snapshot())".contains("which runs now"))
            try loop.run(until: waiting)
        }
    }

    @Test("the warning about members that have not drained has at most 50 lines of them")
    func undrained() throws {
        try withLoop(.virtual) { loop in
            var warnings: [String] = []
            let source = CancellationSource(on: loop)
            loop.observe(token: source.token) { if case .warning(let text) = $0 { warnings.append(text) } }
            let scope = FutureScope(on: loop)
            for number in 0..<60 { scope.add(loop.sleep(for: .seconds(100 + number))) }
            scope.drain(within: .seconds(5))
            try loop.run(until: scope.ended)
            let lines = warnings.joined().split(separator: "\n")
            #expect(lines.count == 51 && lines.last == "… and 12 more lines")
            source.cancel()
        }
    }

    @Test("a promise that waits for another future, and an operation of a queue that runs, are no items")
    func followers() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let other = loop.makePromise(of: Int.self)
            promise.complete(using: other.future)
            #expect(loop.snapshot().items.map(\.count) == [1])
            let queue = FutureQueue(on: loop)
            let result = queue.enqueue { other.future }
            try settle(loop)
            #expect(loop.snapshot().items.map(\.count) == [1], "\(loop.snapshot())")
            other.succeed(1)
            try expect(result, succeedsWith: 1)
        }
    }
}
