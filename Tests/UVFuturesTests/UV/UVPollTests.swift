import CFuturesSystem
import CLibUV
import Glibc
import Testing

@testable import UVFutures

struct UVPollTests {
    @Test("what the system does not let be watched is refused with its number")
    func refusedBySystem() throws {
        let host = HostLoop()
        let loop = try host.attach()
        // No set of descriptors can be in itself.
        let own = unsafe uv_backend_fd(host.loop)
        #expect(
            complaint { _ = try loop.watch(descriptor: own) }
                == "descriptor \(own) cannot be watched: the system says EINVAL, invalid argument")
        loop.detach().ignoreFailure()
        host.run()
        #expect(host.close() == 0)
    }

    @Test("what the host watches itself is refused")
    func watchedByHost() throws {
        try withHost { host, loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
            #expect(unsafe uv_poll_init(host.loop, poll, ends[0]) == 0)
            #expect(unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { _, _, _ in } == 0)
            #expect(
                complaint { _ = try loop.watch(descriptor: ends[0]) }
                    == "descriptor \(ends[0]) belongs to another handle of the libuv loop; use that instead")
            unsafe uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) {
                unsafe UnsafeMutableRawPointer($0!).deallocate()
            }
            host.run()
            let watch = try loop.watch(descriptor: ends[0])
            try host.run(until: watch.close())
            for end in ends { close(end) }
        }
    }

    @Test(
        "a descriptor that is closed while it is watched fails what waits, and does not end the process",
        arguments: 0..<3)
    func closed(when: Int) throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            defer { close(ends[1]) }
            let watch = try loop.watch(descriptor: ends[0])
            let text = """
                descriptor \(ends[0]) was closed while it was watched; close the watch before the descriptor
                """
            if when == 0 { close(ends[0]) }
            let readable = watch.readable
            if when == 1 { close(ends[0]) }
            if when == 2 {
                try loop.run(until: loop.submit {})
                loop.schedule(after: .milliseconds(1)) { close(ends[0]) }
            }
            #expect(loop.failure(of: readable) as? FutureError == .invalidArgument(text))
            #expect(loop.failure(of: watch.readable) as? FutureError == .invalidArgument(text))
            let called = loop.makePromise(of: DescriptorEvents.self)
            watch.onEvents(.readable) { called.succeed($0) }
            #expect(try loop.run(until: called.future) == .failed)
            try loop.run(until: watch.close())
        }
    }

    @Test("another file that looks the same under the number fails what waits", arguments: [false, true])
    func alike(isSet: Bool) throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
            // All of these sets are one file to the system, and so is a pipe that is opened again.
            if isSet { dup2(make_hang_up_set(), ends[0]) }
            let watch = try loop.watch(descriptor: ends[0])
            let readable = watch.readable.timeout(after: .seconds(5))
            try loop.turn()
            #expect(complaint { _ = try loop.watch(descriptor: ends[0]) }?.contains("already") == true)
            let alike =
                isSet ? make_hang_up_set() : unsafe open("/proc/self/fd/\(ends[0])", O_RDONLY | O_NONBLOCK)
            dup2(alike, ends[0])
            let text = """
                descriptor \(ends[0]) was closed while it was watched; close the watch before the descriptor
                """
            #expect(loop.failure(of: readable) as? FutureError == .invalidArgument(text))
            let other = try loop.watch(descriptor: ends[0])
            if !isSet {
                #expect(unsafe write(ends[1], "x", 1) == 1)
                try loop.run(until: other.readable)
            }
            for end in [watch, other] { try loop.run(until: end.close()) }
            for descriptor in ends + [alike] { close(descriptor) }
        }
    }

    @Test("many watches that wait are all found out")
    func many() throws {
        try withLoop { loop in
            let pairs = try (0..<100).map { _ in
                var ends: [CInt] = [0, 0]
                try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
                return ends
            }
            let watches = try pairs.map { try loop.watch(descriptor: $0[0]) }
            let waits = watches.map(\.readable)
            try loop.run(until: loop.submit {})
            for pair in pairs { close(pair[0]) }
            let ticks = loop.repeat(every: .milliseconds(1)) {}
            for wait in waits { #expect(loop.failure(of: wait) is FutureError) }
            ticks.cancel()
            for watch in watches { try loop.run(until: watch.close()) }
            for pair in pairs { close(pair[1]) }
        }
    }

    @Test("watches that wait for nothing are not looked at")
    func stopped() throws {
        try withLoop { loop in
            let pipes = try (0..<200).map { _ in
                var ends: [CInt] = [0, 0]
                try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
                return ends
            }
            let watches = try pipes.map { try loop.watch(descriptor: $0[0]) }
            let waits = watches.map(\.readable)
            try loop.turn()
            for wait in waits.dropFirst() { wait.cancel() }
            try loop.turn()
            close(pipes[0][0])
            // One round that looks, and one in which that is heard of.
            for _ in 0..<2 { try loop.turn() }
            #expect(waits[0].isCompleted)
            #expect(loop.failure(of: waits[0]) is FutureError)
            for watch in watches { try loop.run(until: watch.close()) }
            for descriptor in pipes.flatMap(\.self).dropFirst() { close(descriptor) }
        }
    }

    @Test("the last of many watches is looked at, too")
    func last() throws {
        try withLoop { loop in
            let pipes = try (0..<40).map { _ in
                var ends: [CInt] = [0, 0]
                try #require(unsafe uv_pipe(&ends, 0, 0) == 0)
                return ends
            }
            let watches = try pipes.map { try loop.watch(descriptor: $0[0]) }
            let waits = watches.map(\.readable)
            try loop.turn()
            close(pipes[39][0])
            // All of them are looked at within three rounds, and one more tells.
            for _ in 0..<4 { try loop.turn() }
            #expect(waits.map(\.isCompleted) == [Bool](repeating: false, count: 39) + [true])
            #expect(loop.failure(of: waits[39]) is FutureError)
            for watch in watches { try loop.run(until: watch.close()) }
            for descriptor in pipes.dropLast().flatMap(\.self) + [pipes[39][1]] { close(descriptor) }
        }
    }

    @Test("a watch that waits no more, or was closed or lost, keeps nothing of its loop", arguments: 0..<4)
    func letsGo(way: Int) throws {
        weak var driver: UVLoop?
        func use() throws {
            try withLoop { loop in
                driver = loop.uv
                var (ends, others): ([CInt], [CInt]) = ([0, 0], [0, 0])
                try #require(unsafe uv_pipe(&ends, 0, 0) == 0 && uv_pipe(&others, 0, 0) == 0)
                let watch = try loop.watch(descriptor: ends[0])
                let readable = watch.readable
                try loop.turn()
                // What it waits for changes while it waits.
                let both = watch.next([.readable, .disconnected])
                try loop.turn()
                switch way {
                case 0:
                    for future in [readable, both.map { _ in }] { future.cancel() }
                    try loop.turn()
                    #expect(
                        complaint { _ = try loop.watch(descriptor: ends[0]) }?.contains("already") == true)
                case 1: break
                case 2: close(ends[0])
                default: dup2(others[0], ends[0])
                }
                if way >= 2 {
                    #expect(loop.failure(of: readable) is FutureError)
                    both.ignoreFailure()
                }
                try loop.run(until: watch.close())
                for descriptor in others + [ends[1]] + (way == 2 ? [] : [ends[0]]) { close(descriptor) }
            }
        }
        try use()
        #expect(driver == nil)
    }
}
