import Foundation
import Glibc
import UVFutures

/// The programs of the configuration file, as they run.
final class Programs {
    let supervisor: ProcessSupervisor
    let log: OutputLog
    private let file: String
    private var lines: [String: [String]] = [:]

    init(_ file: String, _ log: OutputLog, on loop: EventLoop) throws {
        self.file = file
        self.log = log
        supervisor = ProcessSupervisor(on: loop)
        supervisor.onEvent = { [unowned self] event in
            log.write("supervisor", "\(event)")
            if case .started(let name, let process) = event { collect(process.standardOutput!, of: name) }
        }
        for (name, words) in try read() { try add(name, words) }
    }

    private var loop: EventLoop { supervisor.loop }

    /// Reads the file: a name, a program and its arguments in each line.
    private func read() throws -> [(String, [String])] {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Refusal(
                description: "\(file) cannot be read; give a file with a name and a program in each line")
        }
        return try String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap {
            line in
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let name = words.first, !name.hasPrefix("#") else { return nil }
            guard words.count > 1 else {
                throw Refusal(
                    description: "\(file) has \(name) without a program; write the path behind the name")
            }
            return (name, Array(words.dropFirst()))
        }
    }

    private func configuration(_ words: [String]) -> ChildProcess.Configuration {
        var configuration = ChildProcess.Configuration(words[0], arguments: Array(words.dropFirst()))
        configuration.standardOutput = .stream
        configuration.standardError = .standardOutput
        configuration.group = .newGroup
        return configuration
    }

    private func add(_ name: String, _ words: [String]) throws {
        try supervisor.add(name, configuration(words))
        lines[name] = words
    }

    /// Reads the file again. Programs that are in it as before run on.
    func reload() {
        do {
            let new = try read()
            for name in supervisor.names where !new.contains(where: { $0.0 == name }) {
                lines[name] = nil
                supervisor.remove(name).ignoreFailure()
            }
            for (name, words) in new where lines[name] != words {
                guard lines[name] != nil else {
                    try add(name, words)
                    continue
                }
                lines[name] = words
                supervisor.restart(name, with: configuration(words)).ignoreFailure()
            }
        } catch {
            log.write("supervisor", "\(error)")
        }
    }

    private func collect(_ output: DescriptorStream, of name: String) {
        // A program waits when its output is not written away.
        Future(on: output.loop) { [log] in
            for try await line in output.lines(limit: 1 << 20) {
                try await log.write(name, String(decoding: line, as: UTF8.self)).value
            }
        }
        .always { output.close() }
        .ignoreFailure()
    }

    func answer(to line: String) -> Future<String> {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "status" where words.count == 1:
            let states = supervisor.names.map { name in
                switch supervisor.state(of: name) {
                case .running(let process): "\(name) runs as process \(process.id)"
                case .waiting: "\(name) waits for its next start"
                default: "\(name) is over"
                }
            }
            return loop.succeeded(states.joined(separator: "\n"))
        case "restart" where words.count == 2:
            return supervisor.restart(words[1]).map { "\(words[1]) runs as process \($0.id)" }
                .recover { "\($0)" }
        default: return loop.succeeded("ask for status, or restart NAME")
        }
    }

    /// Takes the status of processes that were left to this one, as process 1 has to. Those of its own are the library's.
    func reapOrphans() {
        let own = supervisor.names.compactMap { name -> Int32? in
            if case .running(let process) = supervisor.state(of: name) { process.id } else { nil }
        }
        var found = siginfo_t()
        while unsafe waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 {
            let process = unsafe found._sifields._sigchld.si_pid
            guard process > 0, !own.contains(process) else { return }
            unsafe waitpid(process, nil, WNOHANG)
        }
    }
}

struct Refusal: Error, CustomStringConvertible {
    let description: String
}
