public import FoundationEssentials
public import Futures

extension ChildProcess {
    /// The result of processes that have ended: their exits and their output.
    public struct Outcome: Hashable, Sendable {
        /// The exit of each process, in the order of the pipeline.
        public var exits: [Exit]
        /// The standard output of the last process. Empty if it is redirected elsewhere.
        public var standardOutput: Data
        /// The standard errors of all processes, one after another, without those that are redirected elsewhere.
        public var standardError: Data
        /// The names of the programs.
        public var programs: [String]

        /// The exit of the last process.
        public var exit: Exit { exits.last! }

        /// Whether all processes have exited with the code 0.
        public var isSuccess: Bool { exits.allSatisfy(\.isSuccess) }

        /// Returns this outcome, or throws a ``ProcessFailure`` for the last process that did not exit with the code 0.
        public func requireSuccess() throws -> Outcome {
            guard let index = exits.lastIndex(where: { !$0.isSuccess }) else { return self }
            throw ProcessFailure(program: programs[index], exit: exits[index], standardError: standardError)
        }
    }

    /// Runs a program to its end, and completes with its output and its exit. An exit code other than 0 is not a
    /// failure: see ``Outcome/requireSuccess()``.
    ///
    /// The program gets `input`, and may leave some of it unread. Its standard output and standard error are collected
    /// unless the configuration redirects them. The future completes when the process and the group that it leads have
    /// ended, and when all processes that have inherited the collected streams have closed them.
    ///
    /// Fails with ``ByteStreams/StreamError/limitExceeded(limit:)`` if one of the two streams has more than `limit`
    /// bytes, and with ``Futures/FutureError/timedOut(after:)`` if the run takes longer than `timeout`. Fails with the
    /// errors of ``start(_:on:)``. On failure or cancellation, the process is ended as ``end(within:by:)`` does, and
    /// the future completes when the process and its group have ended.
    ///
    /// ```swift
    /// let sorted = ChildProcess.run(.init("sort"), input: Data("b\na\n".utf8), timeout: .seconds(5), on: loop)
    ///     .map { try $0.requireSuccess().standardOutput }
    /// ```
    public static func run(
        _ configuration: Configuration, input: Data = Data(), limit: Int = 16_777_216,
        timeout: Duration? = nil,
        on loop: EventLoop
    ) -> Future<Outcome> {
        run(pipeline: [configuration], input: input, limit: limit, timeout: timeout, on: loop)
    }

    /// Runs a pipeline of programs, as a shell does with `a | b | c`: each reads the output of the one before it.
    /// Completes when all have ended.
    ///
    /// The first program reads `input`, and the standard output of the last is collected. Everything else works as for
    /// one program. A program that writes to another that has ended is usually terminated by `SIGPIPE`, signal 13.
    public static func run(
        pipeline: [Configuration], input: Data = Data(), limit: Int = 16_777_216, timeout: Duration? = nil,
        on loop: EventLoop
    ) -> Future<Outcome> {
        loop.core.checkThread()
        return loop.attempt {
            try requireArgument(limit >= 0, "run was given a limit of \(limit); give zero or more")
            try requireArgument(
                (timeout ?? .zero) >= .zero,
                "a timeout of \(timeout ?? .zero) is negative; give zero or more")
            var pipeline = pipeline
            for index in pipeline.indices {
                try requireArgument(
                    pipeline[index].terminal == nil,
                    "\(pipeline[index].program) is configured with a terminal, which run cannot read; "
                        + "call start, and read from the terminal"
                )
                if pipeline[index].standardError == nil { pipeline[index].standardError = .stream }
            }
            if let last = pipeline.indices.last, pipeline[last].standardOutput == nil {
                pipeline[last].standardOutput = .stream
            }
            if !input.isEmpty, let first = pipeline.first {
                try requireArgument(
                    first.standardInput == .null || first.standardInput == .stream,
                    "run was given input for \(first.program), whose standardInput is set to something else; "
                        + "leave out one of the two")
                pipeline[0].standardInput = .stream
            }
            return collect(from: try start(pipeline: pipeline, on: loop), input, limit, timeout)
        }
    }
}

/// The error of a program that has exited with a code other than 0, or that a signal has terminated.
public struct ProcessFailure: Error, Hashable, Sendable {
    public let program: String
    public let exit: ChildProcess.Exit
    /// The collected standard error.
    public let standardError: Data
}

extension ProcessFailure: CustomStringConvertible {
    /// The failure in one line, with the last line of the standard error.
    public var description: String {
        let lines = String(decoding: standardError, as: UTF8.self).split(whereSeparator: \.isNewline)
        return "\(program) has ended with \(exit)\(lines.last.map { ": \($0)" } ?? "")"
    }
}
