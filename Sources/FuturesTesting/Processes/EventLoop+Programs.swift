public import Futures

extension EventLoop {
    /// The programs that code on a virtual loop, or on the host of a loop in a world, can start by `ChildProcess`. See
    /// ``SimulatedHost/programs``.
    ///
    /// Traps if the loop runs in real time.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// loop.simulatedPrograms["fail"] = { process in process.loop.succeeded(3) }
    /// let child = try ChildProcess.start(.init("fail"), on: loop)
    /// print(try loop.run(until: child.exit))    // code 3
    /// ```
    public var simulatedPrograms: [String: (SimulatedProcess) throws -> Future<Int32>] {
        get { simulatedHost("simulatedPrograms").programs }
        set { simulatedHost("simulatedPrograms").programs = newValue }
    }
}
