import ArgumentParser
import ExampleSupport
import UVFutures

/// Runs the programs of a configuration file, and starts them again when they end. Usable as process 1 of a container.
@main
struct Supervisor: OneLineCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keeps the programs of a configuration file running, until SIGINT or SIGTERM.",
        discussion: """
            Each line of the file is a name, the path of a program, and its arguments. When the file changes, and at SIGHUP,
            it is read again. Ask a running supervisor with --control: printf 'status\\n' | nc -N -U PATH
            """)

    @Argument(help: "The configuration file.")
    var file: String

    @Option(help: "The path of a socket that answers 'status', 'start NAME', 'stop NAME' and 'restart NAME'.")
    var control: String?

    @Option(help: "The file for the output of the programs, instead of the standard output.")
    var log: String?

    @Option(help: "How many bytes the file may have before it becomes FILE.1 and a new one begins.")
    var logSize = 10_000_000

    @Option(help: "How many seconds each program has to end.")
    var grace = 10.0

    func run() throws {
        let loop = EventLoop.main
        try loop.run(until: supervise(on: loop))
        loop.shutdown()
    }

    /// Runs the programs until a signal comes, and completes when they have ended.
    func supervise(on loop: EventLoop) -> Future<Void> {
        Future(on: loop) {
            let log = try await OutputLog(log, limit: logSize, on: loop)
            let programs = Programs(file, log, on: loop)
            // As process 1 has to, and so that no program leaves anything behind.
            try programs.supervisor.adoptOrphans()
            let scope = FutureScope(on: loop) { _ in .drain(within: .seconds(grace)) }
            scope.add(programs.supervisor)
            let ended = scope.drain(on: .terminate, .interrupt, within: .seconds(grace))
            scope.run {
                // It begins before the file is read for the first time, so no change is missed.
                let watch = scope.add(try await FileWatch.watch(file: file, on: loop).value)
                try await programs.reload().value
                if let control { scope.add(try listen(at: control, programs, on: loop)) }
                watch.onChange { change in if change.kind != .removed { programs.reloadOrComplain() } }
            }
            scope.run(onDrain: .cancelLast) {
                for try await _ in loop.signals(.hangup) { programs.reloadOrComplain() }
            }
            try await ended.value
            try await programs.whenCollected().value
        }
    }

    private func listen(at path: String, _ programs: Programs, on loop: EventLoop) throws -> UnixServer {
        try UnixServer.listen(
            path: path, options: ListenOptions(permissions: 0o600), on: loop,
            awaiting: { connection in
                for try await line in connection.lines() {
                    let answer = try await programs.answer(to: line.text).value
                    try await connection.write("\(answer)\n").value
                }
            })
    }
}
