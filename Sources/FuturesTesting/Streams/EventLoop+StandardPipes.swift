public import Futures

extension SimulatedHost {
    /// The other end of the standard input of the host's program, which opens it by `loop.standardInput()`. When the
    /// host starts again, there is a new one, and what the program had not read is gone.
    ///
    /// ```swift
    /// let host = try World(seed: 1).addHost("a") { host in
    ///     for try await line in try host.loop.standardInput().lines() { host.note("reads \(line.count) bytes") }
    /// }
    /// host.standardInput.write("hello\n")
    /// ```
    public var standardInput: SimulatedInput { SimulatedInput(pipe: standardPipes[0]) }

    /// The other end of the standard output of the host's program, which opens it by `loop.standardOutput()`. When
    /// the host starts again, there is a new one. Until then, what the program wrote before it ended can be read.
    public var standardOutput: SimulatedOutput { SimulatedOutput(pipe: standardPipes[1]) }

    /// The other end of the standard error of the host's program. Everything else is the same as in
    /// ``standardOutput``.
    public var standardError: SimulatedOutput { SimulatedOutput(pipe: standardPipes[2]) }
}

extension EventLoop {
    /// The other end of the standard input of a virtual loop, or of the host of a loop in a world. The program opens
    /// it by `standardInput(limits:)`.
    ///
    /// Traps if the loop is one of real time.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// let input = try loop.standardInput()
    /// loop.simulatedInput.write("hello\n")
    /// print(try loop.run(until: input.readLine())?.count ?? 0)    // 5
    /// ```
    public var simulatedInput: SimulatedInput { simulatedHost("simulatedInput").standardInput }

    /// The other end of the standard output of a virtual loop, or of the host of a loop in a world. The program
    /// opens it by `standardOutput(limits:)`.
    ///
    /// Traps if the loop is one of real time.
    public var simulatedOutput: SimulatedOutput { simulatedHost("simulatedOutput").standardOutput }

    /// The other end of the standard error of a virtual loop, or of the host of a loop in a world. The program opens
    /// it by `standardError(limits:)`.
    ///
    /// Traps if the loop is one of real time.
    public var simulatedError: SimulatedOutput { simulatedHost("simulatedError").standardError }

    func simulatedHost(_ call: String) -> SimulatedHost {
        core.checkThread()
        guard let driver = core.driver as? VirtualDriver else {
            fatalError(
                "\(call) was read on an event loop of real time; make the loop by EventLoop.virtual().")
        }
        return driver.host
    }
}
