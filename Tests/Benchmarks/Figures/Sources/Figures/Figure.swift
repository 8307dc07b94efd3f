import Glibc

/// What is measured, by its name: `run` does so many operations and returns when they have ended.
public struct Figure {
    let name: String
    let run: (Int) throws -> Void

    public init(_ name: String, _ run: @escaping (Int) throws -> Void) {
        self.name = name
        self.run = run
    }
}

/// Does what the command line says, `FIGURE COUNT`, and prints the nanoseconds and the processor's nanoseconds, in all
/// threads, that an operation took. Without arguments it prints the figures' names.
public func measure(_ figures: [Figure]) throws {
    let arguments = CommandLine.arguments
    if arguments.count == 1 {
        for figure in figures { print(figure.name) }
        return
    }
    guard arguments.count == 3 else { refuse("usage: \(arguments[0]) [FIGURE COUNT]") }
    guard let figure = figures.first(where: { $0.name == arguments[1] }) else {
        let names = figures.map(\.name).joined(separator: ", ")
        refuse("no figure \"\(arguments[1])\"; there are \(names)")
    }
    guard let count = Int(arguments[2]), count > 0 else {
        refuse("\"\(arguments[2])\" is no positive number")
    }

    // To warm up: the same for every count, so that the difference of two runs leaves it out.
    try figure.run(1000)
    let (start, processorStart) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
    try figure.run(count)
    let (end, processorEnd) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
    print((end - start) / Double(count), (processorEnd - processorStart) / Double(count))
}

private func refuse(_ complaint: String) -> Never {
    var line = complaint + "\n"
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(2)
}

private func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
