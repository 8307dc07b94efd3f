import ArgumentParser
import Foundation
import Glibc
import UVFutures

/// Runs the programs of a configuration file, and starts them again when they end. Usable as process 1 of a container.
@main
struct Supervisor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keeps the programs of a configuration file running, until SIGINT or SIGTERM.",
        discussion: """
            Each line of the file is a name, the path of a program, and its arguments. SIGHUP reads the file again.
            Ask a running supervisor with --control: printf 'status\\n' | nc -N -U PATH
            """)

    @Argument(help: "The configuration file.")
    var file: String

    @Option(help: "The path of a socket that answers 'status' and 'restart NAME'.")
    var control: String?

    @Option(help: "The file for the output of the programs, instead of the standard output.")
    var log: String?

    @Option(help: "How many bytes the file may have before it becomes FILE.1 and a new one begins.")
    var logSize = 10_000_000

    @Option(help: "How many seconds each program has to end.")
    var grace = 10.0

    func run() throws {
        let loop = EventLoop.main
        let programs = try Programs(file, OutputLog(log, size: logSize, on: loop), on: loop)
        let server = try control.map { path in
            try UnixServer.listen(
                path: path, permissions: 0o600, on: loop,
                awaiting: { connection in
                    for try await line in connection.lines() {
                        let answer = try await programs.answer(to: String(decoding: line, as: UTF8.self))
                            .value
                        try await connection.write("\(answer)\n").value
                    }
                })
        }
        let reloading = Future(on: loop) {
            for try await _ in loop.signals(.hangup) { programs.reload() }
        }
        let reaping = loop.repeat(every: .seconds(1)) { programs.reapOrphans() }
        try loop.run(until: programs.supervisor.drain(on: .terminate, .interrupt, within: .seconds(grace)))
        reloading.cancel()
        reaping.cancel()
        if let server { _ = try loop.run(until: server.shutdown(within: .zero)) }
        try loop.run(until: programs.log.close())
        loop.shutdown()
    }
}
