import CFuturesSystem
import CLibUV
import Testing
import UVFutures

struct ClosingTests {
    @Test("detaching fails what is pending, closes what is open, and resolves last")
    func pending() throws {
        try withHost { host, loop in
            var seen: [String] = []
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenFailure { seen.append("promise: \($0)") }
            let sleeping = loop.sleep(for: .seconds(60))
            sleeping.whenFailure { seen.append("timer: \($0)") }
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            listener.accept().whenFailure { _ in seen.append("listener") }
            let detached = loop.detach()
            detached.whenSuccess { seen.append("detached") }
            let again = loop.detach()
            try host.run(until: detached)
            #expect(seen.count == 4 && seen.last == "detached" && again.isSuccess)
            #expect(
                Set(seen).isSuperset(of: [
                    "promise: \(FutureError.shutDown)", "timer: \(FutureError.shutDown)",
                ]))
            withExtendedLifetime((promise, listener)) {}
            // The second call is the same, and so is one afterwards.
            try host.run(until: loop.detach())
            #expect(!loop.execute {})
        }
    }

    @Test("a loop that has been shut down has no descriptor open, though somebody holds it")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            func use() throws -> EventLoop {
                let loop = try EventLoop()
                // Nobody reads, so the loop watches for hang-ups.
                let (client, server) = try loop.connectedPair()
                try loop.run(for: .milliseconds(1))
                loop.shutdown()
                withExtendedLifetime((client, server)) {}
                return loop
            }
            // What all loops share stays.
            let first = try use()
            let before = openDescriptors()
            let second = try use()
            #expect(openDescriptors().isSubset(of: before))
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test("a callback may detach its own loop, and runs to its end")
    func fromCallback() throws {
        try withHost { host, loop in
            let detached = loop.submit { loop.detach() }.flatMap { $0 }
            try host.run(until: detached)
        }
    }

    @Test("connections with unsent and unread bytes are gone when the loop is detached")
    func connections() throws {
        try withHost { host, loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let client = TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop)
            let (one, other) = try host.run(until: client.and(listener.accept()))
            let writing = one.write([UInt8](repeating: 1, count: 8_000_000))
            writing.ignoreFailure()
            other.write("unread")
            try host.run(until: loop.detach())
            #expect(writing.isCompleted)
        }
    }

    @Test("an event loop that is dropped without detaching takes its handles with it")
    func dropped() throws {
        let host = HostLoop()
        var loop: EventLoop? = try host.attach()
        try host.run(until: loop!.sleep(for: .milliseconds(1)))
        loop = nil
        #expect(host.close() == UV_EBUSY.rawValue)
        host.run()
        #expect(host.close() == 0)
    }

    @Test("1,000 attached and detached loops leave no handle and no descriptor")
    func cycles() async {
        await #expect(processExitsWith: .success) {
            let host = HostLoop()
            func cycle() throws {
                let loop = try host.attach()
                let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop, owning: { _ in })
                let connected = TCPConnection.connect(
                    host: "127.0.0.1", port: server.localAddress.port, on: loop)
                _ = try host.run(until: connected)
                try host.run(until: loop.detach())
            }
            for _ in 0..<10 { try cycle() }
            let before = openSockets()
            for _ in 0..<1000 { try cycle() }
            precondition(openSockets() == before)
            precondition(!host.isAlive && host.close() == 0)
        }
    }

    @Test("a host that closes our handles itself is told so, and nothing crashes")
    func closedByHost() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let host = HostLoop()
            let loop = try host.attach()
            let promise = loop.makePromise(of: Int.self)
            unsafe uv_walk(host.loop, { handle, _ in unsafe uv_close(handle, nil) }, nil)
            host.run()
            precondition(host.close() == 0)
            let late = loop.submit { 1 }
            precondition(late.isCompleted && promise.future.isCompleted)
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(
            message?.contains("A host has closed the handles of an event loop that is attached to it.")
                == true)
    }

    @Test("detaching fails when the host has closed our handles itself")
    func detachedAfterHostClosed() async {
        await #expect(processExitsWith: .success) {
            let host = HostLoop()
            let loop = try host.attach()
            unsafe uv_walk(host.loop, { handle, _ in unsafe uv_close(handle, nil) }, nil)
            host.run()
            let detached = loop.detach()
            precondition("\(detached)" == "Future(failure: \(FutureError.shutDown))")
            precondition("\(loop.detach())" == "Future(success: ())")
            precondition(host.close() == 0)
        }
    }

    @Test(
        "a host that closes our sockets with the rest may be told of it by any use of them", arguments: 0..<6)
    func socketsClosedByHost(use: Int) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [use] in
            let host = HostLoop()
            let loop = try host.attach()
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let connected = TCPConnection.connect(
                host: "127.0.0.1", port: listener.localAddress.port, on: loop)
            var (client, peer): (TCPConnection?, TCPConnection?) = try host.run(
                until: connected.and(listener.accept()))
            var ends: [CInt] = [0, 0]
            precondition(unsafe uv_pipe(&ends, 0, 0) == 0)
            let watch = try loop.watch(descriptor: ends[0])
            let (read, readable) = (peer!.read(), watch.readable)
            for future in [read.map { _ in }, readable] { future.ignoreFailure() }
            unsafe uv_walk(host.loop, { handle, _ in unsafe uv_close(handle, nil) }, nil)
            func end() {
                host.run()
                precondition(host.close() == 0)
            }
            if use % 2 == 0 { end() }
            switch use / 2 {
            case 0:
                client!.close()
                peer!.abort()
                listener.close()
                watch.close()
            case 1:
                client!.write("x")
                listener.accept().ignoreFailure()
                watch.writable.ignoreFailure()
            default:
                (client, peer) = (nil, nil)
            }
            precondition(loop.submit { 1 }.isCompleted)
            precondition(read.isCompleted && readable.isCompleted)
            if use % 2 != 0 { end() }
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(
            message?.contains("A host has closed the handles of an event loop that is attached to it.")
                == true)
    }
}
