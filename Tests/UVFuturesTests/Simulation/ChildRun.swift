import FoundationEssentials
import FuturesTesting
import UVFutures

/// A program of a parent and its child that is being run on a loop.
final class ChildRun {
    private var lines: [String] = []
    private var child: ChildProcess?
    /// Whether the child may be stopped. A closure would take its input nevertheless.
    private var mayBeStopped = false
    /// The bytes of both outputs, and how each has ended.
    private var outputs: [(bytes: Int, end: String)] = [(0, ""), (0, "")]

    /// Returns what can be seen after each step. `settle` is called with the number of the step and a closure for what can be
    /// seen; it returns `false` to end here.
    static func outcomes(
        of program: ChildProgram, _ configuration: ChildProcess.Configuration, on loop: EventLoop,
        settle: (Int, () -> [String]) throws -> Bool
    ) throws -> [[String]] {
        let run = ChildRun()
        var configuration = configuration
        (configuration.standardInput, configuration.standardOutput) = (.stream, .stream)
        configuration.standardError = .stream
        // In a group that nobody of the session looks after, SIGTSTP has no effect.
        configuration.group = .newGroup
        let child = try ChildProcess.start(configuration, on: loop)
        run.child = child
        run.watch(child)
        var seen: [[String]] = []
        defer { child.end(within: .zero) }
        for step in [nil] + program.steps.map(Optional.init) + [.end(isAtOnce: true)] {
            if let step { run.begin(step, child) }
            let isAsExpected = try settle(seen.count) { run.seen }
            seen.append(run.seen)
            if !isAsExpected { break }
        }
        child.standardInput?.abort()
        return seen
    }

    private var seen: [String] {
        lines + zip(["output", "errors"], outputs).map { "\($0): \($1.bytes) bytes\($1.end)" }
    }

    private func watch(_ child: ChildProcess) {
        note("exit", child.exit) { "\($0)".replacing(", with a core dump", with: "") }
        for (index, output) in [child.standardOutput, child.standardError].enumerated() {
            output!.forEachChunk { self.outputs[index].bytes += $0.count }.whenComplete {
                switch $0 {
                case .success: self.outputs[index].end = ", ended"
                case .failure(let error): self.outputs[index].end = ", \(error)"
                }
            }
        }
    }

    private func begin(_ step: ChildProgram.Step, _ child: ChildProcess) {
        switch step {
        case .write where mayBeStopped, .closeInput where mayBeStopped: break
        case .write(let text): note("write", child.standardInput!.write(text)) { "done" }
        case .closeInput: note("close", child.standardInput!.close()) { "done" }
        case .signal(let number):
            mayBeStopped = number != 18 && (mayBeStopped || 19...22 ~= number)
            do { lines.append("signal \(number): \(try child.send(ProcessSignal(rawValue: number)))") } catch
            {
                lines.append("signal \(number): \(error)")
            }
        case .end(let isAtOnce):
            note("end", child.end(within: isAtOnce ? .zero : .milliseconds(50))) {
                "\($0)".replacing(", with a core dump", with: "")
            }
        }
    }

    private func note<Value>(_ name: String, _ future: Future<Value>, _ text: @escaping (Value) -> String) {
        let index = lines.count
        lines.append("\(name): pending")
        future.whenComplete { [self] in
            switch $0 {
            case .success(let value): lines[index] = "\(name): \(text(value))"
            case .failure(let error): lines[index] = "\(name): \(error)"
            }
        }
    }
}

extension ChildProgram {
    /// The child as a shell runs it. What it complains tells how far it is.
    var script: String {
        let lines = acts.map { act in
            switch act {
            case .say(let count): "printf '%0\(count)d' 0"
            case .complain(let count): "printf '%0\(count)d' 0 >&2"
            case .echoLine: "if read -r line || [ -n \"$line\" ]; then echo \"$line\"; fi"
            case .takeAll: "while read -r line; do :; done"
            case .ignore(let signal): "trap '' \(signal)"
            case .closeOutput: "exec >/dev/null"
            }
        }
        let all = (["ulimit -c 0"] + lines).flatMap { [$0, "printf . >&2"] }
        return (all + [code.map { "exit \($0)" } ?? "exec sleep 1000"]).joined(
            separator: "\n")
    }

    /// The child as a host of a world runs it.
    func run(_ process: SimulatedProcess) -> Future<Int32> {
        var hasOutput = true
        return acts.reduce(process.standardError.write(".")) { before, act in
            before.flatMap {
                switch act {
                case .say(let count):
                    return hasOutput
                        ? process.standardOutput.write(Data(count: count)) : process.loop.succeeded()
                case .complain(let count): return process.standardError.write(Data(count: count))
                case .echoLine:
                    return process.standardInput.readLine().flatMap { line in
                        guard let line, hasOutput else { return process.loop.succeeded() }
                        return process.standardOutput.write(Data(count: line.count + 1))
                    }
                case .takeAll: return process.standardInput.forEachChunk { _ in }
                case .ignore(let signal):
                    ignore(ProcessSignal(rawValue: signal), process)
                    return process.loop.succeeded()
                case .closeOutput:
                    hasOutput = false
                    return process.standardOutput.close()
                }
            }
            .flatMap { process.standardError.write(".") }
        }
        .flatMap { code.map { process.loop.succeeded($0) } ?? process.loop.never() }
    }

    private func ignore(_ signal: ProcessSignal, _ process: SimulatedProcess) {
        process.signal(signal).whenSuccess { ignore(signal, process) }
    }
}
