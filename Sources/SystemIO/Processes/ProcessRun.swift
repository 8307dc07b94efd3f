internal import ByteStreams
internal import FoundationEssentials
internal import Futures

/// Runs processes to their end, and collects their output.
final class ProcessRun {
    private let processes: [ChildProcess]
    private let promise: Promise<ChildProcess.Outcome>
    private var timer: ScheduledTask<Void>?
    private var isOver = false

    init(_ processes: [ChildProcess]) {
        self.processes = processes
        promise = processes[0].core.makePromise(of: ChildProcess.Outcome.self)
    }

    private var loop: LoopCore { processes[0].core }

    /// Writes `input` to the first process, and completes when all have ended.
    func collect(_ input: Data, _ limit: Int, _ timeout: Duration?) -> Future<ChildProcess.Outcome> {
        if let stream = processes[0].standardInput {
            // A process may leave some of its input unread without a failure.
            stream.write(input).whenComplete { _ in stream.close() }
        }
        func everything(_ stream: DescriptorStream?) -> Future<Data> {
            stream?.readToEnd(limit: limit) ?? loop.succeeded(Data())
        }
        let exits = Future.all(processes.map(\.gonePromise.future), on: loop)
        let output = everything(processes.last!.standardOutput)
        let errors = Future.all(processes.map { everything($0.standardError) }, on: loop)
        combine(exits, output, errors, on: loop).whenComplete { [self] result in
            switch result {
            case .success((let exits, let output, let errors)):
                // After `fail`, this only means that the processes have been ended: `fail` completes the promise.
                guard !isOver else { return }
                let programs = processes.map(\.configuration.program)
                end()
                promise.succeed(
                    .init(
                        exits: exits, standardOutput: output, standardError: errors.reduce(Data(), +),
                        programs: programs))
            case .failure(let error): fail(error)
            }
        }
        if let timeout {
            timer = loop.schedule(after: timeout) { [self] in fail(FutureError.timedOut(after: timeout)) }
            timer?.future.ignoreFailure()
        }
        promise.onCancelRequest { [self] in
            fail(CancellationError())
            return .continue
        }
        return promise.future
    }

    /// Ends the processes, and then fails the promise.
    private func fail(_ error: any Error) {
        guard !isOver else { return }
        end()
        Future.allSettled(processes.map { $0.end() }, on: loop).whenComplete { [self] _ in promise.fail(error)
        }
    }

    private func end() {
        isOver = true
        timer?.cancel()
        for process in processes {
            for stream in [process.standardInput, process.standardOutput, process.standardError] {
                stream?.abort()
            }
        }
    }
}
