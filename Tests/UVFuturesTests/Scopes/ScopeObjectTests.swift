import FoundationEssentials
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

/// The objects of the system that a scope can end.
enum ScopeObject: String, CaseIterable, Codable {
    case connection, listener, datagrams, files, descriptor, child, supervisor, client, pool

    /// Adds one to `scope`, and returns a closure that says whether it has ended.
    func add(to scope: FutureScope) throws -> () -> Bool {
        let loop = scope.loop
        switch self {
        case .connection:
            let (near, far) = try loop.connectedPair()
            scope.add(near)
            far.closed.ignoreFailure()
            _ = far.readToEnd().tap { _ in far.close() }.recover { _ in Data() }
            return { !near.isOpen }
        case .listener:
            let listener = scope.add(try TCPListener(host: "127.0.0.1", port: 0, on: loop))
            return { listener.accept().isCompleted }
        case .datagrams:
            let socket = scope.add(try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop))
            return { !socket.isOpen }
        case .files:
            let directory = FileManager.default.temporaryDirectory.path
            let watch = scope.add(
                try loop.run(until: FileWatch.watch(directory: directory, on: loop)))
            return { !watch.isOpen }
        case .descriptor:
            var ends: [CInt] = [0, 0]
            precondition(unsafe pipe(&ends) == 0)
            let watch = scope.add(try loop.watch(descriptor: ends[0]))
            return {
                defer { for end in ends { close(end) } }
                return watch.readable.isCompleted
            }
        case .child:
            let child = scope.add(try ChildProcess.start(.init("sleep", "600"), on: loop))
            return { child.exit.isCompleted }
        case .supervisor:
            let supervisor = scope.add(ProcessSupervisor(on: loop))
            try supervisor.add("sleeper", .init("sleep", "600"))
            return { supervisor.names.isEmpty }
        case .client:
            let client = scope.add(
                try PipelinedClient(decodedBy: LineDecoder(), on: loop) { loop.never(of: TCPConnection.self) }
            )
            return { client.closed.isCompleted }
        case .pool:
            let pool = scope.add(try ConnectionPool(on: loop) { loop.never(of: TCPConnection.self) })
            return { pool.acquire().isCompleted }
        }
    }
}

struct ScopeObjectTests {
    @Test(
        "a connection that breaks fails its scope, once, and is not reported besides",
        arguments: TestNetwork.allCases,
        [FutureScope.FailureResponse.end, .drain(within: .seconds(60)), .goOn])
    func brokenConnection(network: TestNetwork, response: FutureScope.FailureResponse) throws {
        // The check of all tests with a loop finds what is reported.
        try withLoop(network) { loop in
            let (near, far) = try loop.connectedPair()
            let scope = FutureScope(on: loop) { _ in response }
            scope.add(near)
            scope.add(near.readToEnd())
            far.abort()
            let result = try loop.run(until: scope.ended.mapResult { $0 })
            if case .failure(let error) = result { #expect(error is SystemError) }
            #expect(((try? result.get()) == nil) == (response != .goOn))
            #expect(!near.isOpen)
        }
    }

    @Test(
        "what a connection could not send at its end is reported, though its scope has failed before",
        arguments: TestNetwork.allCases)
    func unsent(network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            var reported: [any Error] = []
            loop.onUnhandledFailure = { reported.append($0) }
            var limits = StreamLimits()
            limits.closeTimeout = .milliseconds(20)
            let (near, far) = try loop.connectedPair(limits: limits)
            let scope = FutureScope(on: loop) { _ in .drain(within: .seconds(60)) }
            scope.add(near)
            near.write(Data(count: 10_000_000)).ignoreFailure()
            scope.add(loop.failed(ScopeFailure()) as Future<Void>)
            #expect(throws: ScopeFailure.self) { try loop.run(until: scope.ended) }
            far.abort()
            try loop.run(for: .milliseconds(1))
            #expect(reported.count == 1 && "\(reported)".contains("still unsent"), "\(reported)")
        }
    }

    @Test(
        "a watch that ends by itself is reported if its scope has failed before, and nobody asks for its changes",
        arguments: [false, true])
    func brokenWatch(isAsked: Bool) throws {
        try withLoop(.system, ignoringUnhandled: true) { loop in
            var reported: [any Error] = []
            loop.onUnhandledFailure = { reported.append($0) }
            let directory = FileManager.default.temporaryDirectory.appending(path: "uvfutures-\(UUID())").path
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let scope = FutureScope(on: loop) { _ in .drain(within: .seconds(60)) }
            let watch = scope.add(try loop.run(until: FileWatch.watch(directory: directory, on: loop)))
            let other = loop.makePromise(of: Void.self)
            scope.add(other.future)
            if isAsked {
                scope.add(watch.next())
            } else {
                watch.onChange { _ in }
                scope.add(loop.failed(ScopeFailure()) as Future<Void>)
            }
            try FileManager.default.removeItem(atPath: directory)
            _ = try loop.run(until: watch.closed.mapResult { $0 })
            other.succeed()
            if isAsked {
                #expect(throws: FileWatchError.removed(path: directory)) { try loop.run(until: scope.ended) }
                #expect(reported.isEmpty)
            } else {
                #expect(throws: ScopeFailure.self) { try loop.run(until: scope.ended) }
                try loop.run(for: .milliseconds(1))
                #expect(reported as? [FileWatchError] == [.removed(path: directory)])
            }
        }
    }

    @Test(
        "a resource of a user that fails at its end is reported, though its scope has failed before"
    )
    func failingResource() throws {
        try withLoop(.virtual, ignoringUnhandled: true) { loop in
            var reported: [any Error] = []
            loop.onUnhandledFailure = { reported.append($0) }
            let scope = FutureScope(on: loop)
            let resource = loop.makePromise(of: Void.self)
            scope.add(
                ScopeMembership(
                    ended: resource.future, cancel: { resource.fail(FutureError.closed("file")) }, release: {}
                ))
            scope.add(loop.failed(ScopeFailure()) as Future<Void>)
            #expect(throws: ScopeFailure.self) { try loop.run(until: scope.ended) }
            try loop.run(for: .milliseconds(1))
            #expect(reported as? [FutureError] == [.closed("file")])
        }
    }

    @Test(
        "a scope ends each kind of object, and nothing is left of it", arguments: ScopeObject.allCases,
        ScopeEnd.allCases)
    func ends(object: ScopeObject, end: ScopeEnd) throws {
        try withLoop(.system, ignoringUnhandled: object == .pool || object == .listener) { loop in
            let scope = FutureScope(on: loop)
            let hasEnded = try object.add(to: scope)
            try loop.run(for: .milliseconds(2))
            #expect(scope.count == 1)
            end.begin(scope)
            try end.wait(for: scope)
            #expect(hasEnded())
        }
    }

    @Test(
        "a resource stays as long as other members work, and then ends in order",
        arguments: ScopeObject.allCases)
    func resources(object: ScopeObject) throws {
        try withLoop(.system, ignoringUnhandled: object == .pool || object == .listener) { loop in
            let scope = FutureScope(on: loop)
            let hasEnded = try object.add(to: scope)
            try loop.run(for: .milliseconds(2))
            #expect(scope.count == 1, "it waits for others")
            let work = scope.run { try await loop.sleep(for: .milliseconds(5)).value }
            try loop.run(until: work)
            guard object != .child && object != .supervisor else {
                try loop.run(for: .milliseconds(2))
                #expect(!scope.ended.isCompleted, "it is work itself")
                scope.cancel()
                return try loop.run(until: scope.ended)
            }
            try loop.run(until: scope.ended)
            #expect(hasEnded() && !scope.isCancelled)
        }
    }

    @Test(
        "what has been written to a connection arrives, though its scope ends",
        arguments: TestNetwork.allCases)
    func flush(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (near, far) = try loop.connectedPair()
            let scope = FutureScope(on: loop)
            scope.add(near)
            scope.run { near.write(Data(count: 3_000_000)) }
            let all = far.readToEnd()
            #expect(try loop.run(until: all).count == 3_000_000)
            far.close()
            try loop.run(until: scope.ended)
        }
    }

    @Test("an object that has ended before is no member")
    func endedBefore() throws {
        try withLoop { loop in
            let scope = FutureScope(on: loop)
            let (near, far) = try loop.connectedPair()
            loop.closeAll(near, far)
            scope.add(near)
            let child = try ChildProcess.start(.init("true"), on: loop)
            _ = try loop.run(until: child.exit)
            scope.add(child)
            let supervisor = ProcessSupervisor(on: loop)
            try loop.run(until: supervisor.end())
            scope.add(supervisor)
            let pool = try ConnectionPool(on: loop) { loop.never(of: TCPConnection.self) }
            _ = try loop.run(until: pool.drain(within: .zero))
            scope.add(pool)
            try loop.run(until: scope.ended)
        }
    }

    @Test("a connection that the peer resets is a failure of its scope", arguments: TestNetwork.allCases)
    func reset(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let scope = FutureScope(on: loop)
            let (near, far) = try loop.connectedPair()
            scope.add(near)
            let other = scope.add(loop.sleep(for: .seconds(600)))
            let read = near.readToEnd()
            far.abort()
            #expect((loop.failure(of: scope.ended) as? SystemError)?.code == .connectionReset)
            #expect(other.isCancelled && read.isCompleted)
        }
    }

    @Test(
        "a pool has ended when what was written to its idle connections has arrived",
        arguments: TestNetwork.allCases)
    func pool(network: TestNetwork) throws {
        try withLoop(network) { loop in
            var received: Future<Data>?
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                received = loop.sleep(for: .milliseconds(20)).flatMap { connection.readToEnd() }
                return received!.asVoid()
            }
            let scope = FutureScope(on: loop)
            let pool = scope.add(
                try ConnectionPool(on: loop) {
                    TCPConnection.connect(host: "127.0.0.1", port: server.localAddress.port, on: loop)
                })
            var connection: TCPConnection?
            scope.run {
                let lease = try await pool.acquire().value
                connection = lease.connection
                lease.connection.write(Data(count: 10_000_000))
                lease.release()
            }
            try loop.run(until: scope.ended)
            #expect(connection?.closed.isCompleted == true)
            #expect(try loop.run(until: try #require(received)).count == 10_000_000)
            _ = try loop.run(until: server.shutdown(within: .zero))
        }
    }

    @Test(
        "a supervisor that ends in the same moment is a member that has ended",
        arguments: TestNetwork.allCases)
    func supervisor(network: TestNetwork) throws {
        try withLoop(network) { loop in
            for delays in 0...3 {
                let supervisor = ProcessSupervisor(on: loop)
                let scope = FutureScope(on: loop)
                supervisor.end()
                var later: Future<Void> = loop.succeeded()
                for _ in 0..<delays { later = later.map { _ in } }
                later.whenSuccess { scope.add(supervisor) }
                try loop.run(for: .milliseconds(5))
                try loop.run(until: scope.ended)
            }
        }
    }

    // MARK: Programs

    @Test(
        "the first signal drains, though something else has begun to, and the second cancels",
        arguments: TestNetwork.allCases)
    func signalWhileDraining(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop throws in
                let scope = FutureScope(on: loop)
                let ended = scope.drain(on: .user1, within: .seconds(60))
                scope.run { try await loop.sleep(for: .seconds(600)).value }
                scope.drain(within: .seconds(60))
                network.send(.user1, to: loop)
                try loop.run(for: .milliseconds(20))
                #expect(!scope.isCancelled)
                network.send(.user1, to: loop)
                try loop.run(until: ended)
                #expect(scope.isCancelled)
            }
        }
    }

    @Test("a program whose loop is stopped is cancelled, and catches no signals any more")
    func stopped() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                var ended: Future<Void>?
                let cleanedUp = loop.makePromise(of: Void.self)
                loop.schedule(after: .milliseconds(5)) { loop.stop() }
                #expect(throws: FutureError.stopped) {
                    try loop.runScope(on: .user1, within: .seconds(1)) { scope in
                        ended = scope.ended
                        do { try await loop.sleep(for: .seconds(600)).value } catch {
                            try await loop.shielded(within: .seconds(600)) {
                                try await cleanedUp.future.value
                            }
                        }
                    }
                }
                // Its clean-up may take long, and a signal may have to end the process meanwhile.
                try loop.run(for: .milliseconds(5))
                #expect(loop.statistics.handles == 0)
                cleanedUp.succeed()
                try loop.run(until: try #require(ended))
            }
        }
    }

    @Test(
        "a program ends at a signal when its members have drained, and is cancelled by a second one",
        arguments: [false, true], TestNetwork.allCases)
    func program(isTwice: Bool, network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [isTwice, network] in
            try withLoop(network) { loop throws in
                var seen: [String] = []
                var client: TCPConnection?
                let value = try loop.runScope(within: .seconds(600)) { scope in
                    let server = scope.add(
                        try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) { connection in
                            _ = try await connection.readLine().value
                            let line = try await connection.readLine().value
                            seen.append("\(line?.count ?? -1)")
                        })
                    scope.run {
                        try await scope.draining.value
                        seen.append("drains")
                    }
                    let address = server.localAddress
                    client = try await TCPConnection.connect(host: address.host, port: address.port, on: loop)
                        .value
                    try await client!.write("hello\n").value
                    try await loop.sleep(for: .milliseconds(5)).value
                    network.send(.terminate, to: loop)
                    scope.draining.flatMap { loop.sleep(for: .milliseconds(5)) }.whenSuccess {
                        if isTwice { network.send(.interrupt, to: loop) } else { client!.write("rest\n") }
                    }
                    return 7
                }
                #expect(value == 7)
                #expect(seen == (isTwice ? ["drains"] : ["drains", "4"]))
                client!.abort()
            }
        }
    }

    @Test(
        "a program without a signal ends when its members have ended, and throws what failed",
        arguments: TestNetwork.allCases)
    func programWithoutSignal(network: TestNetwork) async {
        await #expect(processExitsWith: .success) { [network] in
            try withLoop(network) { loop throws in
                #expect(try loop.runScope(within: .seconds(1)) { _ in "ended" } == "ended")
                #expect(throws: ScopeFailure.self) {
                    try loop.runScope(on: .user1, within: .seconds(1)) { scope in
                        scope.run { throw ScopeFailure() }
                        try await loop.sleep(for: .seconds(600)).value
                    }
                }
                #expect(throws: FutureError.self) { try loop.runScope(within: .seconds(-1)) { _ in } }
                #expect(throws: (any Error).self) { try loop.runScope(on: .kill, within: .zero) { _ in } }
                #expect(loop.statistics.handles == 0)
            }
        }
    }
}
