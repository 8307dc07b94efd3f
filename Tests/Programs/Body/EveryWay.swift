// Every way to write an asynchronous body keeps it on its loop, before and after what it awaits: futures, other code, the
// chunks and lines of a stream, and the elements of the other sequences.
import Dispatch
import Glibc
import UVFutures

/// Where the steps of a body have run. Plain state: what leaves the loop's thread is seen by its place alone.
final class Trace {
    let loop: EventLoop
    var steps = 0
    var strays = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func step() {
        steps += 1
        if !loop.isCurrent { strays += 1 }
    }
}

@concurrent func elsewhere() async {}

nonisolated(nonsending) func visit(_ trace: Trace) async throws {
    trace.step()
    try await trace.loop.sleep(for: .zero).value
    trace.step()
    await elsewhere()
    trace.step()
    try await trace.loop.submit {}.value
    trace.step()
    let (near, far) = try pair(on: trace.loop)
    far.write("one\ntwo\nthree")
    for try await line in near.lines() {
        trace.step()
        if line.count == 3 { break }
    }
    var count = 0
    for try await chunk in near.chunks {
        trace.step()
        count += chunk.count
        await elsewhere()
        if count == 9 { far.write("four") }
        if count == 13 { far.shutdownWrite() }
    }
    trace.step()
    for end in [near, far] { end.abort() }
    try await iterate(trace)
}

/// Takes one element of each sequence that gives them to a task without futures.
nonisolated(nonsending) func iterate(_ trace: Trace) async throws {
    let loop = trace.loop
    for try await _ in loop.ticks(every: .milliseconds(1)) {
        trace.step()
        break
    }
    for try await _ in Future.inCompletionOrder([loop.sleep(for: .milliseconds(1))]) { trace.step() }
    let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
    let client = TCPConnection.connect(host: "127.0.0.1", port: listener.localAddress.port, on: loop)
    for try await connection in listener.connections {
        trace.step()
        connection.abort()
        break
    }
    listener.close()
    try await client.value.abort()
    var ends: [CInt] = [0, 0]
    precondition(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let watch = try loop.watch(descriptor: ends[0])
    Glibc.close(ends[1])
    for try await _ in watch.events(.readable) {
        trace.step()
        break
    }
    try await watch.close().value
    Glibc.close(ends[0])
}

func pair(on loop: EventLoop) throws -> (UnixConnection, UnixConnection) {
    var ends: [CInt] = [0, 0]
    precondition(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (
        try UnixConnection(adopting: ends[0], on: loop), try UnixConnection(adopting: ends[1], on: loop)
    )
}

/// As a package with default settings writes it: isolated to nothing. Returns how many steps were elsewhere.
func stroll(on loop: EventLoop) async throws -> Int {
    var strays = loop.isCurrent ? 0 : 1
    try await loop.sleep(for: .zero).value
    if !loop.isCurrent { strays += 1 }
    await elsewhere()
    if !loop.isCurrent { strays += 1 }
    let (near, far) = try pair(on: loop)
    far.write("one")
    for try await _ in near.chunks {
        if !loop.isCurrent { strays += 1 }
        far.shutdownWrite()
    }
    if !loop.isCurrent { strays += 1 }
    for end in [near, far] { end.abort() }
    return strays
}

func run(_ name: String, _ trace: Trace, _ future: Future<Void>) {
    do {
        try trace.loop.run(until: future.timeout(after: .seconds(20)))
        print("\(name): \(trace.steps) steps, \(trace.strays) elsewhere")
    } catch {
        print("\(name): \(error)")
    }
}

final class Plain {
    let trace: Trace
    let stored: () async throws -> Void
    var count = 0

    init(_ loop: EventLoop) {
        let trace = Trace(loop)
        self.trace = trace
        stored = { try await visit(trace) }
    }

    func method() async throws { try await visit(trace) }
    nonisolated(nonsending) func nonsending() async throws { try await visit(trace) }

    func make(_ way: Int) -> Future<Void>? {
        let loop = trace.loop
        let trace = trace
        switch way {
        case 0: return Future(on: loop) { try await visit(trace) }
        case 1: return Future(on: loop) { try await visit(self.trace) }
        case 2: return Future(on: loop) { [self] in try await visit(self.trace) }
        case 3: return Future(on: loop) { [weak self] in if let self { try await visit(self.trace) } }
        case 4: return Future(on: loop) { [unowned self] in try await visit(self.trace) }
        case 5:
            return Future(on: loop) { [loop] in
                trace.step()
                try await loop.submit {}.value
                try await visit(trace)
            }
        case 6: return Future(on: loop) { [self] () async throws -> Void in try await visit(self.trace) }
        case 7: return Future(on: loop, stored)
        case 8: return Future(on: loop, method)
        case 9: return Future(on: loop, nonsending)
        case 10:
            return Future(on: loop) { [self] in self.trace.strays += try await stroll(on: self.trace.loop) }
        case 11:
            func local() async throws { try await visit(trace) }
            return Future(on: loop, local)
        case 12:
            func local() async throws { try await visit(trace) }
            return Future(on: loop) { [self] in
                try await local()
                count += 1
            }
        case 13:
            let body: () async throws -> Void = { [weak self] in if let self { try await visit(self.trace) } }
            return Future(on: loop, body)
        case 14:
            let body: () async throws -> Void = { [weak self] in if let self { try await visit(self.trace) } }
            return Future(on: loop) { try await body() }
        case 15:
            let promise = loop.makePromise(of: Void.self)
            promise.complete(awaiting: { [self] in try await visit(self.trace) })
            return promise.future
        case 16:
            return loop.submit {}.flatMap { [self] in
                Future(on: loop) { [self] in try await visit(self.trace) }
            }
        case 17:
            return Future(on: loop) { [self] in
                try await Future(on: loop) { [weak self] in if let self { try await visit(self.trace) } }
                    .value
            }
        case 18:
            return Future(on: loop) { [weak self] in
                do { throw CancellationError() } catch { if let self { try await visit(self.trace) } }
            }
        case 19:
            return Future(on: loop) { [self] in
                for try await _ in loop.ticks(every: .milliseconds(1)).prefix(3) { self.trace.step() }
                try await visit(self.trace)
            }
        case 20:
            return Future(on: loop) { [self] in
                let doubled = loop.ticks(every: .milliseconds(1)).prefix(2).map { tick in
                    await elsewhere()
                    return tick
                }
                for try await _ in doubled { self.trace.step() }
                try await visit(self.trace)
            }
        case 21:
            return Future(on: loop) { [self] in
                async let one = stroll(on: loop)
                async let two = stroll(on: loop)
                self.trace.strays += try await one + two
            }
        case 22:
            return Future(on: loop) { [self] in
                self.trace.strays += try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<3 { group.addTask { try await stroll(on: loop) } }
                    return try await group.reduce(0, +)
                }
            }
        case 23: return retrying(loop) { [self] in try await visit(self.trace) }
        default: return nil
        }
    }

    private func retrying(_ loop: EventLoop, _ body: @escaping () async throws -> Void) -> Future<Void> {
        loop.retry(attempts: 2) { _ in Future(on: loop, body) }
    }
}

actor Pinned {
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    nonisolated(unsafe) let trace: Trace

    init(_ loop: EventLoop) {
        self.loop = loop
        trace = Trace(loop)
    }

    func make(_ way: Int) -> Future<Void>? {
        let loop = loop
        switch way {
        case 0: return Future(on: loop) { try await visit(self.trace) }
        case 1: return Future(on: loop) { [self] in try await visit(trace) }
        case 2: return Future(on: loop) { [weak self] in if let self { try await visit(self.trace) } }
        default: return nil
        }
    }
}

@MainActor final class OnMain {
    let trace: Trace
    init(_ loop: EventLoop) { trace = Trace(loop) }

    func method() async throws { try await visit(trace) }
    func serve(on loop: EventLoop) async throws { try await visit(trace) }

    func make(_ way: Int) -> Future<Void>? {
        let loop = trace.loop
        switch way {
        case 0: return Future(on: loop) { try await visit(self.trace) }
        case 1: return Future(on: loop) { [weak self] in if let self { try await visit(self.trace) } }
        case 2: return Future(on: loop, method)
        case 3: return Future(on: loop) { Task.isCancelled ? () : try await self.method() }
        default: return nil
        }
    }
}

@main struct Program {
    static func main() throws {
        let main = EventLoop.main
        var way = 0
        while true {
            let plain = Plain(main)
            guard let future = plain.make(way) else { break }
            run("a class, way \(way)", plain.trace, future)
            way += 1
        }
        way = 0
        while true {
            let pinned = Pinned(main)
            guard let future = pinned.assumeIsolated({ Carried($0.make(way)) }).future else { break }
            run("an actor on the loop, way \(way)", pinned.trace, future)
            way += 1
        }
        for (name, loop) in [("the main loop", main), ("another loop", try EventLoop())] {
            way = 0
            while true {
                let onMain = OnMain(loop)
                guard let future = onMain.make(way) else { break }
                run("the main actor, \(name), way \(way)", onMain.trace, future)
                way += 1
            }
        }
        let method = OnMain(main)
        try EventLoop.runMain(method.serve)
        print("runMain, a method: \(method.trace.steps) steps, \(method.trace.strays) elsewhere")
        let trace = Trace(main)
        try EventLoop.runMain { [trace] _ in try await visit(trace) }
        print("runMain, a capture list: \(trace.steps) steps, \(trace.strays) elsewhere")
    }
}

struct Carried: @unchecked Sendable {
    let future: Future<Void>?
    init(_ future: Future<Void>?) { self.future = future }
}
