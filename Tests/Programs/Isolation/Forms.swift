// Each way to write asynchronous code that uses a loop of the main thread, called from an asynchronous main: whether it
// works, or with which words it traps. The program runs itself for each.
import UVFutures

func free(_ loop: EventLoop) async throws { try await loop.submit {}.value }

@concurrent func concurrent(_ loop: EventLoop) async throws { try await loop.submit {}.value }

nonisolated(nonsending) func nonsending(_ loop: EventLoop) async throws { try await loop.submit {}.value }

@MainActor func onMain(_ loop: EventLoop) async throws { try await loop.submit {}.value }

func isolated(_ loop: EventLoop, to actor: isolated (any Actor)? = #isolation) async throws {
    try await loop.submit { _ = actor }.value
}

protocol Working { func work(_ loop: EventLoop) async throws }

final class Worker: Working, Sendable {
    func work(_ loop: EventLoop) async throws { try await loop.submit {}.value }
}

func helper<Failure: Error>(_ body: () async throws(Failure) -> Void) async throws(Failure) {
    try await body()
}

actor Stranger {
    func use(_ loop: EventLoop) async throws { try await loop.submit {}.value }
}

actor Guest {
    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func use() async throws { try await loop.submit {}.value }
}

@concurrent func askForMain() async { _ = EventLoop.main }

nonisolated(unsafe) var shared: EventLoop!

@main
struct Forms {
    static let names = [
        "free function", "nested function", "method", "requirement", "nonsending", "main actor",
        "isolated parameter",
        "local closure", "Task", "body", "function called by a body",
        "@Sendable closure", "async let",
        "child of a group", "@concurrent", "Task.detached", "actor", "actor on the loop", "EventLoop.main",
    ]

    static func main() async throws {
        let loop = EventLoop.main
        shared = loop
        if CommandLine.arguments.count > 1 { return try await run(CommandLine.arguments[1], on: loop) }
        for name in names {
            var configuration = ChildProcess.Configuration("/proc/self/exe", name)
            configuration.environment = .inheriting(with: ["SWIFT_BACKTRACE": "enable=no"])
            let finished = try await ChildProcess.run(configuration, on: loop).value
            let said = String(decoding: finished.standardError, as: UTF8.self)
            print("\(name): \(finished.exit.isSuccess ? "works" : words(of: said))")
        }
    }

    /// The words of the sentence that tell the cases apart.
    static func words(of said: String) -> String {
        [
            "a nonisolated async function or closure:", "a thread of Swift's pool: in a child task",
            "an actor that does not run on its event loop",
            "EventLoop.main was used on another thread than the main thread",
        ].first(where: said.contains) ?? "says \(said)"
    }

    @MainActor static func run(_ name: String, on loop: EventLoop) async throws {
        func nested() async throws { try await loop.submit {}.value }
        switch name {
        case "free function": try await free(loop)
        case "nested function": try await nested()
        case "method": try await Worker().work(loop)
        case "requirement": try await (Worker() as any Working).work(loop)
        case "nonsending": try await nonsending(loop)
        case "main actor": try await onMain(loop)
        case "isolated parameter": try await isolated(loop)
        case "local closure":
            let closure = { try await loop.submit {}.value }
            try await closure()
        case "Task": try await Task { try await loop.submit {}.value }.value
        case "body": try await Future<Void>(on: loop) { try await loop.submit {}.value }.value
        case "function called by a body": try await Future<Void>(on: loop) { try await free(loop) }.value
        case "@Sendable closure":
            let closure: @Sendable () async throws -> Void = { try await unsafe shared.submit {}.value }
            try await closure()
        case "async let":
            async let child: Void = unsafe shared.submit {}.value
            try await child
        case "child of a group":
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await unsafe shared.submit {}.value }
                try await group.waitForAll()
            }
        case "@concurrent": try await concurrent(loop)
        case "Task.detached": try await Task.detached { try await unsafe shared.submit {}.value }.value
        case "actor": try await Stranger().use(loop)
        case "actor on the loop": try await Guest(loop).use()
        default: await askForMain()
        }
    }
}
