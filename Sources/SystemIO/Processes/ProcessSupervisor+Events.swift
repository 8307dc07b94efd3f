public import Futures

extension ProcessSupervisor {
    /// When to restart a program, and when to give up.
    public struct Restarts: Sendable {
        /// The waits before successive restarts. They start over once a program has run for ``period``.
        public var backoff = Backoff.exponential
        /// The most restarts within ``period``. A program that would need one more is given up.
        public var limit = 5
        public var period: Duration = .seconds(60)
        /// Whether to restart a program only after a failure, and not when it exits with the code 0.
        public var onlyAfterFailure = false

        public init() {}
    }

    /// An event of the program called `name`.
    public enum Event {
        /// A process of the program runs. If its standard output is a stream, read that of each process.
        case started(name: String, ChildProcess)
        /// The program has ended, and so has its group, if it led one.
        case ended(name: String, ChildProcess.Exit)
        /// The program could not be started, after a request or by itself.
        case notStarted(name: String, any Error)
        /// The program is restarted after this time.
        case restarting(name: String, after: Duration)
        /// The program has been restarted `restarts` times within ``Restarts/period``, and is not restarted any more.
        case givenUp(name: String, restarts: Int)
    }

    /// The state of a program.
    public enum State {
        case running(ChildProcess)
        /// The program waits for its next start.
        case waiting
        /// The program does not run, and is not restarted, unless you call ``ProcessSupervisor/start(_:)`` or
        /// ``ProcessSupervisor/restart(_:with:within:)``.
        case over
    }
}

extension ProcessSupervisor.State: CustomStringConvertible {
    /// The state in a few words, such as `runs as process 4711`.
    public var description: String {
        switch self {
        case .running(let process): "runs as process \(process.id)"
        case .waiting: "waits for its next start"
        case .over: "is over"
        }
    }
}

extension ProcessSupervisor.Event: CustomStringConvertible {
    /// The event in one line, such as `web ended with code 1`.
    public var description: String {
        switch self {
        case .started(let name, let process): "\(name) started as process \(process.id)"
        case .ended(let name, let exit): "\(name) ended with \(exit)"
        case .notStarted(let name, let error): "\(name) was not started: \(error)"
        case .restarting(let name, let delay): "\(name) is started again after \(delay)"
        case .givenUp(let name, let restarts): "\(name) is given up after \(restarts) restarts"
        }
    }
}
