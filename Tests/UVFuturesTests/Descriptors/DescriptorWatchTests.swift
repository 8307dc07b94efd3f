import CFuturesSystem
import CLibUV
import Glibc
import Testing
import UVFutures

struct DescriptorWatchTests {
    /// Two ends of a connection of the UNIX domain, in blocking mode.
    private func withSockets(_ body: (CInt, CInt, EventLoop) throws -> Void) throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(
                unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            defer { for end in ends { close(end) } }
            try body(ends[0], ends[1], loop)
        }
    }

    private func send(_ text: String, to descriptor: CInt) {
        #expect(unsafe write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    private func receive(from descriptor: CInt) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafe recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("a descriptor is writable at once, and readable when something has come")
    func futures() throws {
        try withSockets { (here, there, loop) throws in
            let watch = try loop.watch(descriptor: here)
            try loop.run(until: watch.writable)
            let readable = watch.readable
            try loop.run(until: loop.submit {})
            #expect(!readable.isCompleted)
            send("x", to: there)
            try loop.run(until: readable)
            #expect(try loop.run(until: watch.next([.readable, .writable])) == [.readable, .writable])
            #expect(receive(from: here) == "x")
            let again = watch.readable
            #expect(try loop.run(until: watch.next([.readable, .writable])) == .writable)
            #expect(!again.isCompleted)
            try loop.run(until: watch.close())
            #expect(again.isCancelled)
        }
    }

    @Test("what is ready is reported until somebody reads it, to a closure and to futures beside it")
    func closure() throws {
        try withSockets { (here, there, loop) throws in
            let watch = try loop.watch(descriptor: here)
            let done = loop.makePromise(of: Void.self)
            var seen: [DescriptorEvents] = []
            watch.onEvents(.readable) { events in
                seen.append(events)
                if seen.count == 3 {
                    _ = receive(from: here)
                    done.succeed()
                }
            }
            let beside = watch.readable
            send("x", to: there)
            try loop.run(until: done.future)
            try loop.run(until: beside)
            #expect(seen == [.readable, .readable, .readable])
            watch.onEvents([]) { _ in Issue.record("called after it was taken back") }
            send("x", to: there)
            try loop.run()
            try loop.run(until: watch.close())
        }
    }

    @Test("events come to a for loop, until the watch is closed")
    func sequence() throws {
        try withSockets { (here, there, loop) throws in
            let watch = try loop.watch(descriptor: here)
            let iterator = watch.events(.readable).makeAsyncIterator()
            for text in ["one", "two"] {
                let next = iterator.pull()
                send(text, to: there)
                #expect(try loop.run(until: next) == .readable)
                #expect(receive(from: here) == text)
            }
            let last = iterator.pull()
            watch.close()
            #expect(try loop.run(until: last) == nil)
            #expect(try loop.run(until: watch.events(.readable).makeAsyncIterator().pull()) == nil)
        }
    }

    @Test(
        "a task that waits gets each event, and the end when the watch is closed", arguments: [false, true])
    func tasks(byActor: Bool) throws {
        try withSockets { (here, there, loop) throws in
            let watch = try loop.watch(descriptor: here)
            var text = ""
            let end = watch.events([.readable, .disconnected]).iterate(byActor: byActor) { events in
                #expect(events == .readable)
                text += receive(from: here)
            }
            let beside = watch.next([.readable, .writable])
            for letter in ["a", "b", "c"] {
                let before = text
                send(letter, to: there)
                try loop.runUntil { text == before + letter }
            }
            #expect(beside.isCompleted)
            watch.close()
            try loop.run(until: end)
        }
    }

    @Test("a task that waits is told that the descriptor was closed", arguments: [false, true])
    func lostByTask(byActor: Bool) throws {
        try withSockets { (here, _, loop) throws in
            let descriptor = dup(here)
            let watch = try loop.watch(descriptor: descriptor)
            let end = watch.events(.readable).iterate(byActor: byActor)
            try loop.run(until: loop.submit {})
            close(descriptor)
            let sentence =
                "descriptor \(descriptor) was closed while it was watched; close the watch before the descriptor"
            #expect(loop.failure(of: end) as? FutureError == .invalidArgument(sentence))
            // By a future, which a task that asks again gets.
            let again = watch.events(.readable).iterate(byActor: byActor)
            #expect(loop.failure(of: again) as? FutureError == .invalidArgument(sentence))
        }
    }

    @Test("a task that is cancelled while it waits takes no event, and what others want goes on")
    func cancelledTask() throws {
        try withSockets { (here, there, loop) throws in
            let watch = try loop.watch(descriptor: here)
            let cancelled = watch.events(.readable).iterate(byActor: false) { _ in Issue.record("cancelled") }
            let other = watch.events([.readable, .writable]).iterate(byActor: false) { events in
                if events.contains(.readable) { watch.close() }
            }
            try loop.run(until: loop.submit {})
            #expect(cancelled.cancel())
            send("x", to: there)
            try loop.run(until: other)
            #expect(loop.outcome(of: cancelled).isCancellation)
        }
    }

    @Test("a task that is cancelled keeps neither the loop nor its watch")
    func letsGo() throws {
        try withSockets { (here, _, loop) throws in
            let waiting = try loop.watch(descriptor: here).events(.readable).iterate(byActor: false)
            try loop.run(until: loop.submit {})
            #expect(waiting.cancel())
            #expect(loop.outcome(of: waiting).isCancellation)
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("a task that waits keeps its watch, and a shutdown ends the wait", arguments: [false, true])
    func taskAtShutdown(byActor: Bool) throws {
        var failure: (any Error)?
        try withSockets { (here, there, loop) throws in
            var count = 0
            try loop.watch(descriptor: here).events(.readable).iterate(byActor: byActor) { _ in
                count += receive(from: here).utf8.count
            }.whenFailure { failure = $0 }
            try loop.run(until: loop.submit {})
            send("x", to: there)
            try loop.runUntil { count == 1 }
        }
        #expect(failure as? FutureError == .shutDown)
    }

    @Test("a peer that goes is reported, also while nobody wants to read")
    func disconnected() throws {
        try withSockets { (here, there, loop) throws in
            let watch = try loop.watch(descriptor: here)
            let disconnected = watch.disconnected
            send("unread", to: there)
            shutdown(there, CInt(SHUT_WR))
            try loop.run(until: disconnected)
            try loop.run(until: watch.close())
        }
    }

    @Test("an error of the descriptor is reported with what was asked for, once to a closure")
    func failed() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            defer { close(ends[1]) }
            let watch = try loop.watch(descriptor: ends[1])
            var filler = [UInt8](repeating: 0, count: 4096)
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            while unsafe write(ends[1], &filler, filler.count) > 0 {}
            var calls = 0
            watch.onEvents(.writable) { events in
                #expect(events == [.writable, .failed])
                calls += 1
            }
            let next = watch.next(.writable)
            try loop.run(until: loop.submit {})
            close(ends[0])
            #expect(try loop.run(until: next) == [.writable, .failed])
            try loop.run()
            #expect(calls == 1)
            #expect(try loop.run(until: watch.next(.writable)).contains(.failed))
            try loop.run(until: watch.close())
        }
    }

    @Test("the descriptor's mode is left as it is")
    func mode() throws {
        try withSockets { (here, _, loop) throws in
            let before = fcntl(here, F_GETFL)
            let watch = try loop.watch(descriptor: here)
            try loop.run(until: watch.writable)
            #expect(fcntl(here, F_GETFL) == before && before & O_NONBLOCK == 0)
            try loop.run(until: watch.close())
        }
    }

    @Test("a descriptor that is not open, is watched already or cannot be waited for is refused by name")
    func refusals() throws {
        try withSockets { (here, _, loop) throws in
            #expect(
                complaint { _ = try loop.watch(descriptor: -1) }
                    == "descriptor -1 is not open; watch it after it has been opened")
            let watch = try loop.watch(descriptor: here)
            #expect(
                complaint { _ = try loop.watch(descriptor: here) }
                    == "descriptor \(here) is watched on this loop already; use that watch, or close it first"
            )
            try loop.run(until: watch.close())
            try loop.run(until: try loop.watch(descriptor: here).close())

            let file = unsafe open("/proc/self/exe", O_RDONLY)
            defer { close(file) }
            #expect(
                complaint { _ = try loop.watch(descriptor: file) }
                    == "descriptor \(file) cannot be watched: it is a file or the like, which is always "
                    + "ready; read or write it in RemoteContext.pool")
            let other = try loop.watch(descriptor: here)
            #expect(
                loop.failure(of: other.next(.failed)) as? FutureError
                    == .invalidArgument(
                        "there is no event to wait for; give readable, writable or others"))
            try loop.run(until: other.close())
            #expect(loop.outcome(of: other.readable).isCancellation)
        }
    }

    @Test("a number that stands for something else is watched anew, and the old watch fails")
    func reused() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            let stale = try loop.watch(descriptor: ends[0])
            let waiting = stale.readable
            var others: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&others, 0, 0) == 0)
            try #require(dup2(others[0], ends[0]) == ends[0])
            let watch = try loop.watch(descriptor: ends[0])
            let readable = watch.readable
            send("x", to: others[1])
            try loop.run(until: readable)
            #expect(loop.failure(of: waiting) is FutureError)
            for watch in [stale, watch] { try loop.run(until: watch.close()) }
            for descriptor in ends + others { close(descriptor) }
        }
    }

    @Test("a watch that is dropped closes itself, one that waits stays; a shutdown fails what waits")
    func lifetime() throws {
        var last: (any Error)?
        try withSockets { (here, there, loop) throws in
            _ = try loop.watch(descriptor: here)
            try loop.run()
            #expect(loop.statistics.handles == 0)
            let readable = try loop.watch(descriptor: here).readable
            send("x", to: there)
            try loop.run(until: readable)
            try loop.run()
            #expect(loop.statistics.handles == 0)
            _ = receive(from: here)
            try loop.watch(descriptor: here).readable.whenFailure { last = $0 }
        }
        #expect(last as? FutureError == .shutDown)
    }
}
