public import Futures

extension ChildProcess {
    /// Starts a pipeline of programs, as a shell does with `a | b | c`: each reads the output of the one before it. The
    /// bytes do not pass through this process. Returns the processes in the same order.
    ///
    /// The first program has the standard input of its configuration, and the last has the standard output of its
    /// configuration. Throws ``Futures/FutureError/invalidArgument(_:)`` if `pipeline` is empty, or if a configuration
    /// redirects a stream that is part of the pipeline. Throws the errors of ``start(_:on:)``, after killing the
    /// programs that were already started.
    public static func start(pipeline: [Configuration], on loop: EventLoop) throws -> [ChildProcess] {
        try requireArgument(!pipeline.isEmpty, "the pipeline has no programs; give at least one")
        var (started, previous): ([ChildProcess], ProcessJoint?) = ([], nil)
        do {
            for (index, configuration) in pipeline.enumerated() {
                let isLast = index == pipeline.count - 1
                try requireArgument(
                    (previous == nil || configuration.standardInput == .null)
                        && (isLast || configuration.standardOutput == nil)
                        && (pipeline.count == 1 || configuration.terminal == nil),
                    "\(configuration.program) is part of a pipeline, but its configuration sets a terminal, "
                        + "or a place for a stream that the pipeline connects; leave that unset")
                var joints: [CInt: ProcessLaunch.Source] = [:]
                if let previous { joints[0] = .joint(previous, childWrites: false) }
                previous = isLast ? nil : ProcessJoint()
                if let previous { joints[1] = .joint(previous, childWrites: true) }
                started.append(try start(configuration, on: loop, joints: joints))
            }
        } catch {
            for process in started { process.end(within: .zero) }
            throw error
        }
        return started
    }
}
