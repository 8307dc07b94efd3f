// Each function of the library that waits or takes an asynchronous closure, in each kind of code on the main thread's loop:
// whether it works or traps. No closure mentions what the code around it is isolated to. The closures from "a closure in a
// variable" on go to no function of the library: in some kinds of code these are isolated to nothing, and the compiler says
// nothing. The program runs itself for each.
import Glibc
import UVFutures

enum Kind: String, CaseIterable {
    case main = "the main actor"
    case nonsending
    case parameter = "an isolated parameter"
    case actor = "an actor on the loop"
    case body = "a body"
}

enum Call: String, CaseIterable {
    case value
    case typed = "value of a TypedFuture"
    case future = "Future(on:)"
    case complete = "complete(awaiting:)"
    case server = "TCPServer(on:awaiting:)"
    case tcp = "TCPServer.listen"
    case unix = "UnixServer.listen"
    case group = "TCPServerGroup"
    case each = "for try await"
    case next = "next(isolation:)"
    case reduce = "reduce of a sequence"
    case run = "run of a value"
    case runFuture = "run of a future"
    case shielded = "shielded(within:)"
    case scope = "scope and run of a FutureScope"
    case variable = "a closure in a variable"
    case cancellation = "withTaskCancellationHandler"
    case tasks = "withThrowingTaskGroup"
    case local = "TaskLocal.withValue"
    case preference = "withTaskExecutorPreference"
    case mention = "withTaskCancellationHandler, with a mention"
}

struct Failed: Error {
    let error: any Error
    init(_ error: any Error) { self.error = error }
}

enum Local { @TaskLocal static var value = 0 }

nonisolated func require(_ isTrue: Bool) { precondition(isTrue) }

/// Reads what a handler writes.
nonisolated(nonsending) func read(_ address: SocketAddress, on loop: EventLoop) async throws {
    let text: String
    if let path = address.path {
        text = try await UnixConnection.connect(path: path, on: loop).value.readToEnd().value.text
    } else {
        let connection = try await TCPConnection.connect(host: address.host, port: address.port, on: loop)
            .value
        text = try await connection.readToEnd().value.text
    }
    require(text == "works")
}

nonisolated(nonsending) func ask<Connection>(
    _ server: SocketServer<Connection>, on loop: EventLoop
) async throws {
    try await read(server.localAddress, on: loop)
    _ = try await server.drain(within: .seconds(10)).value
}

/// A sequence with one element, which comes later.
nonisolated func ticks(on loop: EventLoop) -> LoopSequence<Void> {
    Future.inCompletionOrder([loop.sleep(for: .milliseconds(1))])
}

/// Takes the elements as the standard library does.
nonisolated(nonsending) func take<Elements: AsyncSequence>(_ elements: Elements) async throws {
    var iterator = elements.makeAsyncIterator()
    while try await iterator.next(isolation: #isolation) != nil {}
}

/// What has no closure that awaits.
nonisolated(nonsending) func wait(_ call: Call, on loop: EventLoop) async throws {
    switch call {
    case .value: try await loop.submit {}.value
    case .typed: try await loop.submit {}.typed { Failed($0) }.value
    case .each: for try await _ in ticks(on: loop) { try await loop.submit {}.value }
    case .next: try await take(ticks(on: loop))
    case .reduce: require(try await ticks(on: loop).reduce(0) { sum, _ in sum + 1 } == 1)
    case .run: require(try await loop.run { loop.isCurrent })
    case .runFuture: require(try await loop.run { loop.submit { loop.isCurrent } })
    default: break
    }
}

@MainActor func onMain(_ call: Call, on loop: EventLoop) async throws {
    switch call {
    case .future: try await Future(on: loop) { try await loop.submit {}.value }.value
    case .shielded: try await loop.shielded(within: .seconds(10)) { try await loop.submit {}.value }
    case .scope:
        try await loop.scope { scope in
            scope.run { try await loop.submit {}.value }
            try await loop.submit {}.value
        }
    case .complete:
        let promise = loop.makePromise(of: Void.self)
        promise.complete { try await loop.submit {}.value }
        try await promise.future.value
    case .server:
        let server = TCPServer(on: loop) { try await $0.write("works").value }
        try server.listen(host: "127.0.0.1", port: 0)
        try await ask(server, on: loop)
    case .tcp:
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
            try await $0.write("works").value
        }
        try await ask(server, on: loop)
    case .unix:
        let server = try UnixServer.listen(path: "@closures-\(getpid())", on: loop) {
            try await $0.write("works").value
        }
        try await ask(server, on: loop)
    case .group:
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
            try await $0.write("works").value
        }
        try await read(group.localAddress, on: loop)
        require(try await group.onEach { server in server.loop.isCurrent } == [true])
        _ = try await group.drain(within: .seconds(10))
    case .variable:
        let closure = { try await loop.submit {}.value }
        try await closure()
    case .cancellation:
        try await withTaskCancellationHandler {
            try await loop.submit {}.value
        } onCancel: {
        }
    case .tasks:
        try await withThrowingTaskGroup(of: Void.self) { _ in try await loop.submit {}.value }
    case .local: try await Local.$value.withValue(1) { try await loop.submit {}.value }
    case .preference: try await withTaskExecutorPreference(nil) { try await loop.submit {}.value }
    default: try await wait(call, on: loop)
    }
    require(loop.isCurrent)
}

nonisolated(nonsending) func nonsending(_ call: Call, on loop: EventLoop) async throws {
    switch call {
    case .future: try await Future(on: loop) { try await loop.submit {}.value }.value
    case .shielded: try await loop.shielded(within: .seconds(10)) { try await loop.submit {}.value }
    case .scope:
        try await loop.scope { scope in
            scope.run { try await loop.submit {}.value }
            try await loop.submit {}.value
        }
    case .complete:
        let promise = loop.makePromise(of: Void.self)
        promise.complete { try await loop.submit {}.value }
        try await promise.future.value
    case .server:
        let server = TCPServer(on: loop) { try await $0.write("works").value }
        try server.listen(host: "127.0.0.1", port: 0)
        try await ask(server, on: loop)
    case .tcp:
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
            try await $0.write("works").value
        }
        try await ask(server, on: loop)
    case .unix:
        let server = try UnixServer.listen(path: "@closures-\(getpid())", on: loop) {
            try await $0.write("works").value
        }
        try await ask(server, on: loop)
    case .group:
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
            try await $0.write("works").value
        }
        try await read(group.localAddress, on: loop)
        require(try await group.onEach { server in server.loop.isCurrent } == [true])
        _ = try await group.drain(within: .seconds(10))
    case .variable:
        let closure = { try await loop.submit {}.value }
        try await closure()
    case .cancellation:
        try await withTaskCancellationHandler {
            try await loop.submit {}.value
        } onCancel: {
        }
    case .tasks:
        try await withThrowingTaskGroup(of: Void.self) { _ in try await loop.submit {}.value }
    case .local: try await Local.$value.withValue(1) { try await loop.submit {}.value }
    case .preference: try await withTaskExecutorPreference(nil) { try await loop.submit {}.value }
    default: try await wait(call, on: loop)
    }
    require(loop.isCurrent)
}

func parameter(
    _ call: Call, on loop: EventLoop, isolation: isolated (any Actor)? = #isolation
) async throws {
    switch call {
    case .future: try await Future(on: loop) { try await loop.submit {}.value }.value
    case .shielded: try await loop.shielded(within: .seconds(10)) { try await loop.submit {}.value }
    case .scope:
        try await loop.scope { scope in
            scope.run { try await loop.submit {}.value }
            try await loop.submit {}.value
        }
    case .complete:
        let promise = loop.makePromise(of: Void.self)
        promise.complete { try await loop.submit {}.value }
        try await promise.future.value
    case .server:
        let server = TCPServer(on: loop) { try await $0.write("works").value }
        try server.listen(host: "127.0.0.1", port: 0)
        try await ask(server, on: loop)
    case .tcp:
        let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
            try await $0.write("works").value
        }
        try await ask(server, on: loop)
    case .unix:
        let server = try UnixServer.listen(path: "@closures-\(getpid())", on: loop) {
            try await $0.write("works").value
        }
        try await ask(server, on: loop)
    case .group:
        let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
            try await $0.write("works").value
        }
        try await read(group.localAddress, on: loop)
        require(try await group.onEach { server in server.loop.isCurrent } == [true])
        _ = try await group.drain(within: .seconds(10))
    case .variable:
        let closure = { try await loop.submit {}.value }
        try await closure()
    case .cancellation:
        try await withTaskCancellationHandler {
            try await loop.submit {}.value
        } onCancel: {
        }
    case .tasks:
        try await withThrowingTaskGroup(of: Void.self) { _ in try await loop.submit {}.value }
    case .local: try await Local.$value.withValue(1) { try await loop.submit {}.value }
    case .preference: try await withTaskExecutorPreference(nil) { try await loop.submit {}.value }
    case .mention:
        try await withTaskCancellationHandler {
            _ = isolation
            try await loop.submit {}.value
        } onCancel: {
        }
    default: try await wait(call, on: loop)
    }
    require(loop.isCurrent)
}

actor Guest {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: EventLoop) { self.loop = loop }

    func use(_ call: Call, on loop: EventLoop) async throws {
        switch call {
        case .future: try await Future(on: loop) { try await loop.submit {}.value }.value
        case .shielded:
            try await loop.shielded(within: .seconds(10)) { try await loop.submit {}.value }
        case .scope:
            try await loop.scope { scope in
                scope.run { try await loop.submit {}.value }
                try await loop.submit {}.value
            }
        case .complete:
            let promise = loop.makePromise(of: Void.self)
            promise.complete { try await loop.submit {}.value }
            try await promise.future.value
        case .server:
            let server = TCPServer(on: loop) { try await $0.write("works").value }
            try server.listen(host: "127.0.0.1", port: 0)
            try await ask(server, on: loop)
        case .tcp:
            let server = try TCPServer.listen(host: "127.0.0.1", port: 0, on: loop) {
                try await $0.write("works").value
            }
            try await ask(server, on: loop)
        case .unix:
            let server = try UnixServer.listen(path: "@closures-\(getpid())", on: loop) {
                try await $0.write("works").value
            }
            try await ask(server, on: loop)
        case .group:
            let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 1) {
                try await $0.write("works").value
            }
            try await read(group.localAddress, on: loop)
            require(try await group.onEach { server in server.loop.isCurrent } == [true])
            _ = try await group.drain(within: .seconds(10))
        case .variable:
            let closure = { try await loop.submit {}.value }
            try await closure()
        case .cancellation:
            try await withTaskCancellationHandler {
                try await loop.submit {}.value
            } onCancel: {
            }
        case .tasks:
            try await withThrowingTaskGroup(of: Void.self) { _ in try await loop.submit {}.value }
        case .local: try await Local.$value.withValue(1) { try await loop.submit {}.value }
        case .preference: try await withTaskExecutorPreference(nil) { try await loop.submit {}.value }
        case .mention:
            try await withTaskCancellationHandler {
                _ = self
                try await loop.submit {}.value
            } onCancel: {
            }
        default: try await wait(call, on: loop)
        }
        require(loop.isCurrent)
    }
}

@main
struct Closures {
    static func main() async throws {
        let loop = EventLoop.main
        if CommandLine.arguments.count == 3, let kind = Kind(rawValue: CommandLine.arguments[1]),
            let call = Call(rawValue: CommandLine.arguments[2])
        {
            return try await run(kind, call, on: loop)
        }
        for call in Call.allCases {
            var kinds: [String] = []
            for kind in call == .mention ? [.parameter, .actor] : Kind.allCases {
                var configuration = ChildProcess.Configuration("/proc/self/exe", kind.rawValue, call.rawValue)
                configuration.environment = .inheriting(with: ["SWIFT_BACKTRACE": "enable=no"])
                let outcome = try await ChildProcess.run(configuration, on: loop).value
                if outcome.exit.isSuccess { continue }
                let said = outcome.standardError.text
                let isKnown = said.contains("a nonisolated async function or closure:")
                kinds.append(isKnown ? kind.rawValue : "\(kind.rawValue) (\(said))")
            }
            print(
                "\(call.rawValue): \(kinds.isEmpty ? "works" : "traps in " + kinds.joined(separator: ", "))")
        }
    }

    @MainActor static func run(_ kind: Kind, _ call: Call, on loop: EventLoop) async throws {
        switch kind {
        case .main: try await onMain(call, on: loop)
        case .nonsending: try await nonsending(call, on: loop)
        case .parameter: try await parameter(call, on: loop)
        case .actor: try await Guest(on: loop).use(call, on: loop)
        case .body: try await Future(on: loop) { try await nonsending(call, on: loop) }.value
        }
    }
}
