import Futures
import FuturesTesting
import TestSupport
import Testing

/// An object that says what it is, and ends when the test says so.
private final class Part: ScopeMember, CustomStringConvertible {
    let end: Promise<Void>
    var description: String { "a part" }

    init(on loop: EventLoop) { end = loop.makePromise() }

    var membership: ScopeMembership { ScopeMembership(ended: end.future, cancel: {}) }
}

struct SnapshotTests {
    @Test("a body is shown with what it waits for, over all steps in between, to the promise")
    func body() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let body = Future(on: loop) {
                try await promise.future.map { $0 + 1 }.flatMap { loop.succeeded($0) }.value
            }
            try settle(loop)
            let snapshot = loop.snapshot()
            let item = try #require(snapshot.items.first { $0.kind == "body" })
            #expect(item.items.map(\.text) == ["for flatMap"])
            #expect(item.items.first?.items.map(\.text) == ["for map"])
            #expect(item.items.first?.items.first?.items.map(\.kind) == ["promise"])
            #expect(snapshot.items.count == 1, "the promise has no item of its own: \(snapshot)")
            #if DEBUG
                #expect(item.text.hasPrefix("a body made at Diagnostics/SnapshotTests.swift:"))
                #expect(item.place?.hasPrefix("Diagnostics/SnapshotTests.swift:") == true)
            #endif
            promise.succeed(1)
            try expect(body, succeedsWith: 2)
        }
    }

    @Test(
        "behind a step that has become another future comes what that waits for, once",
        arguments: [false, true])
    func linked(isMapped: Bool) throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let body = Future(on: loop) {
                try await loop.succeeded().flatMap {
                    isMapped ? promise.future.map { $0 } : promise.future
                }.value
            }
            try settle(loop)
            let snapshot = loop.snapshot()
            #expect(snapshot.items.map(\.kind) == ["body"], "\(snapshot)")
            var item = try #require(snapshot.items.first)
            var kinds: [String] = []
            while let next = item.items.first {
                item = next
                kinds.append(item.kind)
            }
            #expect(kinds == (isMapped ? ["step", "promise"] : ["promise"]), "\(snapshot)")
            #if DEBUG
                #expect(item.place?.hasPrefix("FuturesTests/SnapshotTests.swift:") == true, "\(snapshot)")
            #endif
            promise.succeed(1)
            try expect(body, succeedsWith: 1)
        }
    }

    @Test("scopes that are members of each other are shown once", arguments: [false, true])
    func scopesInCircle(hasTop: Bool) throws {
        try withLoop(.virtual) { loop in
            let (a, b) = (FutureScope(on: loop), FutureScope(on: loop))
            a.add(b)
            b.add(a)
            let top = FutureScope(on: loop)
            if hasTop { top.add(a) }
            let text = "\(loop.snapshot())"
            #expect(text.split(separator: "scope of 1 member").count == (hasTop ? 5 : 4), "\(text)")
            #expect(text.contains("which is shown elsewhere"))
            for scope in [a, b, top] { scope.cancel() }
            loop.shutdown()
        }
    }

    @Test("a group that many wait for is followed once")
    func sharedGroup() throws {
        try withLoop(.virtual) { loop in
            let promises = (0..<200).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future))
            let bodies = (0..<200).map { _ in Future(on: loop) { try await all.value } }
            try settle(loop)
            func count(_ items: [LoopSnapshot.Item]) -> Int {
                items.reduce(0) { $0 + 1 + count($1.items) }
            }
            #expect(count(loop.snapshot().items) < 1000)
            for promise in promises { promise.succeed(1) }
            for body in bodies { #expect(try loop.run(until: body).count == 200) }
        }
    }

    @Test("timers of bodies take no places of other timers, and a body at the end of a long chain is shown")
    func places() throws {
        try withLoop(.virtual) { loop in
            let sleeping = (0..<10).map { _ in
                Future(on: loop) { try await loop.sleep(for: .seconds(1)).value }
            }
            let timer = loop.schedule(after: .seconds(5)) {}
            try settle(loop)
            let timers = loop.snapshot().items.filter { $0.kind == "timer" }
            #expect(timers.map { $0.text.hasSuffix("that is due in 5.0 s") } == [true], "\(timers)")
            for body in sleeping { try loop.run(until: body) }
            timer.cancel()
            let promise = loop.makePromise(of: Void.self)
            var bodies = [Future(on: loop) { try await promise.future.value }]
            for _ in 0..<150 {
                let last = bodies[bodies.count - 1]
                bodies.append(Future(on: loop) { try await last.value })
            }
            try settle(loop)
            let text = loop.snapshot().text(limit: 1000)
            // Each of 151 waits, whether in the long chain or in what is left out of it.
            func waiting(in items: [LoopSnapshot.Item]) -> Int {
                items.reduce(0) {
                    $0 + $1.count * (($1.text.contains(", which waits") ? 1 : 0) + waiting(in: $1.items))
                }
            }
            #expect(waiting(in: loop.snapshot().items) == 151, "\(text)")
            promise.succeed()
            try settle(loop)
        }
    }

    #if DEBUG
        nonisolated(nonsending) private func first(_ loop: EventLoop, _ record: Record) async throws {
            record.add(#line + 1)
            try await second(loop, record)
        }

        nonisolated(nonsending) private func second(_ loop: EventLoop, _ record: Record) async throws {
            record.add(#line + 1)
            try await loop.sleep(for: .seconds(5)).value
            record.add(#line + 1)
            for try await _ in loop.ticks(every: .seconds(5)) {
                record.add("tick")
            }
        }

        @Test("the place of a body is the line of its innermost await, and says since when it waits")
        func placeOfWait() throws {
            try withLoop(.virtual) { loop in
                let record = Record()
                let body = Future(on: loop) { try await first(loop, record) }
                try pass(.seconds(2), on: loop)
                func item() throws -> LoopSnapshot.Item {
                    try #require(loop.snapshot().items.first { $0.kind == "body" })
                }
                #expect(try item().place?.hasSuffix("SnapshotTests.swift:\(record.entries[1])") == true)
                #expect(try item().seconds == 2)
                #expect(try item().items.map(\.text) == ["for a timer that is due in 3.0 s"])
                try pass(.seconds(4), on: loop)
                // The loop, or the first line in it.
                let lines = [record.entries[2], "\(Int(record.entries[2])! + 1)"]
                let place = try #require(item().place)
                #expect(lines.contains { place.hasSuffix("SnapshotTests.swift:\($0)") }, "\(place)")
                #expect(try item().items.map(\.text) == ["for a tick"])
                #expect(try item().seconds == 1)
                body.cancel()
                try settle(loop)
            }
        }
    #endif

    @Test("a lock says how many wait for it, and in a debug build which line has requested it")
    func locks() throws {
        try withLoop(.virtual) { loop in
            let mutex = FutureMutex(on: loop)
            let permit = try loop.run(until: mutex.lock())
            let waits = (1...3).map { _ in mutex.lock() }
            let item = try #require(loop.snapshot().items.first)
            #expect(item.text.hasPrefix("mutex for which 3 wait"))
            #expect(item.count == 3)
            #if DEBUG
                #expect(item.text.contains("held since Diagnostics/SnapshotTests.swift:"))
            #endif
            permit.release()
            let next = try loop.run(until: waits[0])
            #expect(loop.dump().contains("mutex for which 2 wait"))
            next.release()
            for wait in waits[1...] { wait.cancel() }
        }
    }

    #if DEBUG
        @Test("a semaphore says where each of its permits was requested that is still held")
        func permits() throws {
            try withLoop(.virtual) { loop in
                let semaphore = FutureSemaphore(count: 3, on: loop)
                let permits = (0..<3).compactMap { _ in semaphore.tryAcquire() }
                permits[1].release()
                let again = semaphore.tryAcquire()
                let waiting = semaphore.acquire()
                let text = try #require(loop.snapshot().items.first).text
                let holders = try #require(text.split(separator: "held since ").last)
                #expect(holders.split(separator: "SnapshotTests.swift:").count == 4, "\(text)")
                waiting.cancel()
                withExtendedLifetime((permits, again)) {}
            }
        }
    #endif

    @Test("a scope is shown with its members and inner scopes, and says that it drains")
    func scopes() throws {
        try withLoop(.virtual) { loop in
            let outer = FutureScope(on: loop)
            let inner = outer.add(FutureScope(on: loop))
            inner.run { try await loop.sleep(for: .seconds(5)).value }
            inner.add(loop.schedule(after: .seconds(7)) {})
            outer.add(loop.never(of: Int.self))
            try settle(loop)
            #expect(loop.snapshot().items.first?.items.first?.items.map(\.kind) == ["body", "step"])
            outer.drain(within: .seconds(600))
            let items = loop.snapshot().items
            #expect(items.first?.text == "scope of 2 members, draining")
            #expect(!items.contains { $0.kind == "promise" }, "\(items)")
            #expect(
                items.first?.items.map(\.text) == [
                    "scope of 1 member, draining", "never(), which nothing completes",
                ])
            #expect(items.first?.items.first?.items.map(\.kind) == ["body"])
            outer.cancel()
            try loop.run(until: outer.ended)
            #expect(loop.snapshot().items == [])
        }
    }

    @Test("what waits for itself in a circle is shown as that")
    func circle() throws {
        try withLoop(.virtual) { loop in
            var bodies: [Future<Void>] = []
            for number in 0..<2 {
                bodies.append(
                    Future(on: loop) {
                        try await loop.sleep(for: .zero).value
                        try await bodies[1 - number].value
                    })
            }
            try pass(.seconds(1), on: loop)
            #expect(loop.dump().contains("which waits for itself in this way"), "\(loop.dump())")
            for body in bodies { body.cancel(.evenIfOthersWaiting) }
            try settle(loop)
            bodies = []
        }
    }

    @Test("a chain that is longer than the stack is cut, and so is one of bodies", arguments: [false, true])
    func longChains(isOfBodies: Bool) async throws {
        try await withLoopOnThread(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            var last = promise.future
            for _ in 0..<(isOfBodies ? 1000 : 20_000) {
                let next = last
                last = isOfBodies ? Future(on: loop) { try await next.value } : next.map { $0 }
            }
            let body = Future(on: loop) { [last] in try await last.value }
            try settle(loop)
            #expect(loop.dump(limit: 10_000).contains("for what is left out here"))
            promise.succeed(7)
            try expect(body, succeedsWith: 7)
        }
    }

    @Test("a promise that no body waits for is shown with the steps that wait for it")
    func steps() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.future.map { $0 + 1 }.whenSuccess { _ in }
            promise.future.tap { _ in }.ignoreFailure()
            let item = try #require(loop.snapshot().items.first)
            #expect(item.kind == "promise")
            #expect(item.items.map(\.text) == ["then map", "then a callback"])
            #expect(item.items.first?.items.map(\.text) == ["then a callback"])
            promise.succeed(1)
        }
    }

    @Test(
        "timers are shown in the order in which they are due, and tasks that are no bodies with what they wait for"
    )
    func timers() async throws {
        try await withLoopOnThread(.virtual) { loop in
            loop.schedule(after: .seconds(20)) {}
            loop.repeat(every: .seconds(10)) {}
            let items = loop.snapshot().items
            #expect(items.map(\.kind) == ["timer", "timer"])
            #expect(items[0].text.hasSuffix("that is due in 10.0 s"), "\(items[0])")
            #expect(items[1].text.hasSuffix("that is due in 20.0 s"), "\(items[1])")
            loop.shutdown()
        }
    }

    @Test("a group names those of its members that have not completed")
    func groups() throws {
        try withLoop(.virtual) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map { $0.future.map { $0 } })
            let body = Future(on: loop) { try await all.value.count }
            promises[1].succeed(1)
            try settle(loop)
            let group = try #require(loop.snapshot().items.first?.items.first)
            #expect(group.text == "for a group" && group.items.map(\.count) == [2])
            for promise in promises { promise.succeed(1) }
            try expect(body, succeedsWith: 3)
        }
    }

    @Test("what two branches wait for is shown once, and is no circle; so is a body in two branches")
    func branches() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let inner = Future(on: loop) { try await promise.future.value }
            let branches = [promise.future, promise.future, inner, inner].map { $0.map { $0 + 1 } }
            let body = Future(on: loop) { try await Future.all(branches).value.count }
            try settle(loop)
            let text = loop.dump()
            #expect(!text.contains("itself"), "\(text)")
            #expect(text.contains("a future that is shown above"), "\(text)")
            #expect(text.contains("which is shown elsewhere"), "\(text)")
            promise.succeed(1)
            try expect(body, succeedsWith: 4)
        }
    }

    @Test("all members of a large group are shown, however many they are")
    func largeGroup() throws {
        try withLoop(.virtual) { loop in
            let promises = (0..<300).map { _ in loop.makePromise(of: Int.self) }
            let body = Future(on: loop) { try await Future.all(promises.map(\.future)).value.count }
            try settle(loop)
            let group = try #require(loop.snapshot().items.first?.items.first)
            #expect(group.items.map(\.count).reduce(0, +) == 300)
            #expect(group.items.allSatisfy { $0.kind == "promise" })
            for promise in promises { promise.succeed(1) }
            try expect(body, succeedsWith: 300)
        }
    }

    @Test("a text has as many lines as wanted, and says how many it leaves out; JSON has the same items")
    func text() throws {
        try withLoop(.virtual) { loop in
            let mutexes = (0..<10).map { _ in FutureMutex(on: loop) }
            let permits = try mutexes.map { try loop.run(until: $0.lock()) }
            var waits: [Future<Permit>] = []
            for (index, mutex) in mutexes.enumerated() { for _ in 0...index { waits.append(mutex.lock()) } }
            let snapshot = loop.snapshot()
            #expect(snapshot.items.count == 10)
            #expect(snapshot.text().split(separator: "\n").count == 11)
            let lines = loop.dump(limit: 4).split(separator: "\n")
            #expect(lines.count == 5 && lines.last == "… and 7 more lines")
            #expect(loop.dump(limit: 0).split(separator: "\n").count == 2)
            #expect(snapshot.text(limit: 11) == snapshot.text())
            for wait in waits { wait.cancel() }
            for permit in permits { permit.release() }
        }
    }

    @Test("a release build knows the lines of promises when it is asked to, and forgets them")
    func traces() throws {
        try withLoop(.virtual) { loop in
            #if DEBUG
                #expect(loop.isTraced)
            #else
                #expect(!loop.isTraced)
            #endif
            loop.isTraced = true
            var promise: Promise<Int>? = loop.makePromise(of: Int.self, file: "Somewhere.swift", line: 7)
            #expect(loop.snapshot().items.map(\.place) == ["Somewhere.swift:7"])
            let future = promise!.future
            let body = Future(on: loop) { try await future.value }
            try pass(.seconds(3), on: loop)
            #expect(loop.snapshot().items.map(\.seconds) == [3])
            promise?.isCalled("an answer")
            // The places of the promise and the body, the name, and the wait.
            #expect(loop.core.traceCount == 4)
            promise?.succeed(1)
            _ = try loop.run(until: body)
            promise = nil
            #expect(loop.core.traceCount == 0)
            loop.isTraced = false
            #expect(!loop.isTraced && loop.core.traceCount == 0)
            let untraced = loop.makePromise(of: Int.self, file: "Somewhere.swift", line: 7)
            #expect(loop.snapshot().items.map(\.place) != ["Somewhere.swift:7"])
            untraced.cancel()
        }
    }

    @Test("who has not drained in time is told to the observers of the loop")
    func undrained() throws {
        try withLoop(.virtual) { loop in
            var warnings: [String] = []
            let source = CancellationSource(on: loop)
            loop.observe(token: source.token) { if case .warning(let text) = $0 { warnings.append(text) } }
            let scope = FutureScope(on: loop)
            scope.run { try await loop.sleep(for: .seconds(600)).value }
            scope.drain(within: .seconds(5))
            try loop.run(until: scope.ended)
            #expect(warnings.count == 1)
            #expect(
                warnings.first?.hasPrefix(
                    "a scope is cancelled, since 1 of its members have not drained in 5.0 seconds: ")
                    == true)
            #expect(warnings.first?.contains("for a timer that is due in 595.0 s") == true)
            source.cancel()
        }
    }

    @Test("a step has the name of its method")
    func names() throws {
        try withLoop(.virtual) { loop in
            let names: [(RegisteringMethod, String)] = [
                (.map, "map"), (.flatMap, "flatMap"), (.flatMapCompleting, "flatMap"),
                (.flatMapResultCompleting, "flatMapResult"), (.recover, "recover"),
                (.flatMapError, "flatMapError"), (.flatMapErrorCompleting, "flatMapError"),
                (.flatTap, "flatTap"), (.flatTapError, "flatTapError"), (.flatTapResult, "flatTapResult"),
                (.flatAlways, "flatAlways"), (.whenSuccess, "a callback"),
            ]
            let source = CancellationSource(on: loop)
            for (method, name) in names {
                for token in method == .whenSuccess ? [.none, source.token] : [CancellationToken.none] {
                    let promise = loop.makePromise(of: Int.self)
                    let step = method.register(on: promise.future, token: token) {}
                    let items = loop.snapshot().items.first?.items
                    #expect(items?.map(\.text) == ["then \(name)"], "\(method)")
                    promise.succeed(1)
                    try settle(loop)
                    withExtendedLifetime(step) {}
                }
            }
        }
    }

    @Test("tasks that are no bodies are shown with what they wait for")
    func tasks() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            let cancel = Consumer.executorPreference.start(
                loop.ticks(every: .seconds(5)), Record(), on: loop)
            nonisolated(unsafe) let future = promise.future
            _ = Task(executorPreference: loop) { unsafe try await future.value }
            try settle(loop)
            let items = loop.snapshot().items.filter { $0.kind == "task" }
            #expect(items.map(\.text) == Array(repeating: "a task that is no body, which waits", count: 2))
            let waits = items.flatMap(\.items).map(\.text).sorted()
            #expect(waits.count == 2 && waits[0].hasPrefix("for a promise") && waits[1] == "for a tick")
            promise.succeed(1)
            cancel()
            try settle(loop)
            #expect(loop.snapshot().items == [])
        }
    }

    @Test("a cancelled scope says so and what its objects are, and a body may wait for its end")
    func endOfScope() throws {
        try withLoop(.virtual) { loop in
            let scope = FutureScope(on: loop)
            let part = scope.add(Part(on: loop))
            let body = Future(on: loop) { try await scope.ended.value }
            try settle(loop)
            scope.cancel()
            let items = loop.snapshot().items
            #expect(items.first?.text == "scope of 1 member, cancelled")
            #expect(items.first?.items.map(\.kind) == ["member"])
            #expect(items.first?.items.map(\.text) == ["a part"])
            let waits = items.first { $0.kind == "body" }?.items
            #expect(waits?.map(\.text) == ["for the end of a scope"], "\(items)")
            part.end.succeed()
            try loop.run(until: body)
        }
    }

    @Test("a traversal and a fold name the work that is under way")
    func work() throws {
        try withLoop(.virtual) { loop in
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let traversal = loop.traverse([0, 1, 2], maxConcurrent: 2) { promises[$0].future }
            let fold = Future.fold([loop.succeeded(1)], 0) { _, _ in promises[2].future }
            let bodies = [traversal.map(\.count), fold].map { work in
                Future(on: loop) { try await work.value }
            }
            try settle(loop)
            let waits = loop.snapshot().items.filter { $0.kind == "body" }.flatMap(\.items)
                .map { $0.text == "for map" ? $0.items[0] : $0 }
            let works = waits.map { "\($0.text) \($0.items.map(\.count).reduce(0, +))" }
            #expect(works.sorted() == ["for a group 1", "for traverse 2"], "\(waits)")
            for promise in promises { promise.succeed(1) }
            try expect(bodies[0], succeedsWith: 3)
            try expect(bodies[1], succeedsWith: 1)
        }
    }
}
