public import Futures

extension SimulatedHost {
    /// The test's end of the standard input of the host's program, which the program opens by `loop.standardInput()`. A
    /// restarted host has a new one, and bytes that the program had not read are lost.
    ///
    /// ```swift
    /// let host = try World(seed: 1).addHost("a") { host in
    ///     for try await line in try host.loop.standardInput().lines() { host.note("reads \(line.count) bytes") }
    /// }
    /// host.standardInput.write("hello\n")
    /// ```
    public var standardInput: SimulatedInput { SimulatedInput(pipe: standardPipes[0]) }

    /// The test's end of the standard output of the host's program, which the program opens by `loop.standardOutput()`.
    /// A restarted host has a new one. Until the restart, the output of a program that has ended can still be read.
    public var standardOutput: SimulatedOutput { SimulatedOutput(pipe: standardPipes[1]) }

    /// The test's end of the standard error of the host's program. Otherwise behaves like ``standardOutput``.
    public var standardError: SimulatedOutput { SimulatedOutput(pipe: standardPipes[2]) }
}

extension EventLoop {
    /// The test's end of the standard input of a virtual loop, or of the host of a loop in a world. The program opens
    /// it by `standardInput(limits:)`.
    ///
    /// Traps if the loop runs in real time.
    ///
    /// ```swift
    /// let loop = EventLoop.virtual()
    /// let input = try loop.standardInput()
    /// loop.simulatedInput.write("hello\n")
    /// print(try loop.run(until: input.readLine())?.count ?? 0)    // 5
    /// ```
    public var simulatedInput: SimulatedInput { simulatedHost("simulatedInput").standardInput }

    /// The test's end of the standard output of a virtual loop, or of the host of a loop in a world. The program opens
    /// it by `standardOutput(limits:)`.
    ///
    /// Traps if the loop runs in real time.
    public var simulatedOutput: SimulatedOutput { simulatedHost("simulatedOutput").standardOutput }

    /// The test's end of the standard error of a virtual loop, or of the host of a loop in a world. The program opens
    /// it by `standardError(limits:)`.
    ///
    /// Traps if the loop runs in real time.
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
