import ExampleSupport
import Foundation
import UVFutures

/// The programs of the configuration file, as they run.
final class Programs {
    let supervisor: ProcessSupervisor
    private let log: OutputLog
    private let file: URL
    private let reloads: FutureQueue<Void>
    private let outputs: FutureGate
    private var lines: [String: [String]] = [:]

    init(_ file: String, _ log: OutputLog, on loop: EventLoop) {
        (self.file, self.log) = (URL(fileURLWithPath: file), log)
        (reloads, outputs) = (FutureQueue(on: loop), FutureGate(on: loop))
        supervisor = ProcessSupervisor(on: loop)
        supervisor.onEvent = { [unowned self] event in
            log.write("supervisor", "\(event)").ignoreFailure()
            if case .started(let name, let process) = event { collect(process.standardOutput!, of: name) }
        }
    }

    /// Makes the programs those of the file. Programs that are in it as before run on.
    func reload() -> Future<Void> {
        reloads.enqueue { [self] in
            Directory.open(file.deletingLastPathComponent().path, on: supervisor.loop)
                .flatMap { [file] in $0.contents(of: file.lastPathComponent) }
                .map { [self] in try apply(Self.parse($0.text)) }
        }
    }

    func reloadOrComplain() {
        reload().whenFailure { [log] in log.write("supervisor", "\($0)").ignoreFailure() }
    }

    /// Reads lines of a name, a program and its arguments.
    static func parse(_ text: String) throws -> [String: [String]] {
        var programs: [String: [String]] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let name = words.first, !name.hasPrefix("#") else { continue }
            let former = programs.updateValue(Array(words.dropFirst()), forKey: name)
            guard words.count > 1, former == nil else {
                throw Refusal(
                    "\(name) has no program, or two; write a line with its name and its program")
            }
        }
        return programs
    }

    private func apply(_ new: [String: [String]]) throws {
        for name in supervisor.names where new[name] == nil {
            lines[name] = nil
            supervisor.remove(name).ignoreFailure()
        }
        for (name, words) in new.sorted(by: { $0.key < $1.key }) where lines[name] != words {
            var program = ChildProcess.Configuration(words[0], arguments: Array(words.dropFirst()))
            (program.standardOutput, program.standardError) = (.stream, .standardOutput)
            program.group = .newGroup
            if lines[name] == nil {
                try supervisor.add(name, program)
            } else {
                supervisor.restart(name, with: program).whenFailure { [log] in
                    log.write("supervisor", "\($0)").ignoreFailure()
                }
            }
            lines[name] = words
        }
    }

    private func collect(_ output: DescriptorStream, of name: String) {
        outputs.with { [log] in
            Future(on: output.loop) {
                for try await line in output.lines(limit: 1 << 20) {
                    try await log.write(name, line.text).value
                }
            }
        }
        .recover { say("what \(name) writes is not read any more: \($0)") }
        .always { output.close() }
        .ignoreFailure()
    }

    /// Completes when the log has everything that the programs wrote.
    func whenCollected() -> Future<Void> {
        // A process that has left its group may still have a stream open.
        outputs.close().timeout(after: .seconds(1)).recover { _ in }.flatMap { [log] in log.whenWritten() }
    }

    func answer(to line: String) -> Future<String> {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "status" where words.count == 1:
            let states = supervisor.names.map { "\($0) \(supervisor.state(of: $0)!)" }
            return supervisor.loop.succeeded(states.joined(separator: "\n"))
        case "restart" where words.count == 2:
            return supervisor.restart(words[1]).map { "\(words[1]) runs as process \($0.id)" }
                .recover { "\($0)" }
        case "start" where words.count == 2:
            return supervisor.start(words[1]).map { "\(words[1]) runs as process \($0.id)" }.recover {
                "\($0)"
            }
        case "stop" where words.count == 2:
            return supervisor.stop(words[1]).map { "\(words[1]) is over" }.recover { "\($0)" }
        default:
            return supervisor.loop.succeeded("ask for status, or start NAME, stop NAME or restart NAME")
        }
    }
}
