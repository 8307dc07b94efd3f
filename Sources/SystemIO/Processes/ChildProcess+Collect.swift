internal import ByteStreams
internal import FoundationEssentials
internal import Futures

extension ChildProcess {
    /// Writes `input` to the first process, and completes with the output of all when all have ended.
    static func collect(
        from processes: [ChildProcess], _ input: Data, _ limit: Int, _ timeout: Duration?
    ) -> Future<Outcome> {
        let loop = processes[0].core
        let promise = loop.makePromise(of: Outcome.self)
        var timer: ScheduledTask<Void>?
        var isOver = false
        func end() {
            isOver = true
            timer?.cancel()
            for process in processes {
                for stream in [process.standardInput, process.standardOutput, process.standardError] {
                    stream?.abort()
                }
            }
        }
        // Ends the processes, and then fails the promise.
        func fail(_ error: any Error) {
            guard !isOver else { return }
            end()
            Future.allSettled(processes.map { $0.end() }, on: loop).whenComplete { _ in promise.fail(error) }
        }
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
        combine(exits, output, errors, on: loop).whenComplete { result in
            switch result {
            case .success((let exits, let output, let errors)):
                // After `fail`, this only means that the processes have been ended: `fail` completes the promise.
                guard !isOver else { return }
                end()
                promise.succeed(
                    .init(
                        exits: exits, standardOutput: output, standardError: errors.reduce(Data(), +),
                        programs: processes.map(\.configuration.program)))
            case .failure(let error): fail(error)
            }
        }
        if let timeout {
            timer = loop.schedule(after: timeout) { fail(FutureError.timedOut(after: timeout)) }
        }
        promise.onCancelRequest {
            fail(CancellationError())
            return .continue
        }
        return promise.future
    }
}
