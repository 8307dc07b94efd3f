public import Futures
public import SystemIO

/// A process of a simulated host that another program of the host has started by `ChildProcess`. Its program is a
/// closure in ``SimulatedHost/programs``, and runs on the loop of the program that started it.
///
/// A signal that the process does not wait for has its default effect: most signals end the process, some stop it. A
/// stopped process gets no signals until it is continued, and does not end, but its closure keeps running. When the
/// host's program ends, its processes end, too.
public final class SimulatedProcess {
    public let loop: EventLoop
    /// The number of the process on its host.
    public let id: Int32
    /// The arguments, starting with the name of the program.
    public let arguments: [String]
    /// The environment variables. If Swift considers several names equal, this has the one whose bytes sort first.
    public let environment: [String: String]
    /// The environment variables as bytes, as the system passes them.
    public let environmentBytes: [[UInt8]: [UInt8]]
    /// The working directory. `nil` if the process was started without its own.
    public let workingDirectory: String?
    public let standardInput: DescriptorStream
    public let standardOutput: DescriptorStream
    public let standardError: DescriptorStream
    private var handlers: [ProcessSignal: Promise<Void>] = [:]

    init(_ id: Int32, _ launch: ProcessLaunch, _ streams: [DescriptorStream], on loop: EventLoop) {
        self.loop = loop
        self.id = id
        arguments = launch.arguments
        let variables = launch.environment.map {
            let parts = $0.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (Array(parts[0]), Array(parts[1]))
        }
        environmentBytes = Dictionary(uniqueKeysWithValues: variables)
        environment = Dictionary(
            variables.map { (String(systemBytes: $0), String(systemBytes: $1)) },
            uniquingKeysWith: { first, _ in first })
        workingDirectory = launch.directory
        (standardInput, standardOutput, standardError) = (streams[0], streams[1], streams[2])
    }

    /// Completes when the process next gets `signal`. While the future is pending, the signal does not end the process.
    /// Cancelling the future restores the default effect.
    public func signal(_ signal: ProcessSignal) -> Future<Void> {
        if let promise = handlers[signal] { return promise.future.branch() }
        let promise = loop.makePromise(of: Void.self)
        promise.future.ignoreFailure()
        promise.onCancelRequest { [unowned self] in
            handlers[signal] = nil
            return .cancel
        }
        handlers[signal] = promise
        return promise.future.branch()
    }

    /// Delivers a signal to the program. Returns `false` if the program does not wait for it.
    func deliver(_ signal: ProcessSignal) -> Bool {
        guard let promise = handlers.removeValue(forKey: signal) else { return false }
        promise.succeed()
        return true
    }

    func end() {
        for promise in exchange(&handlers, with: [:]).values { promise.cancel() }
    }

    var streams: [DescriptorStream] { [standardInput, standardOutput, standardError] }
}
