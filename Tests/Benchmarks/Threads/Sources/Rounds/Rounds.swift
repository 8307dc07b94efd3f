import Dispatch
import Glibc

/// What is measured, by its name: it runs so many operations and returns when they have ended.
public struct Contender {
    let name: String
    let run: (Int) -> Void

    public init(_ name: String, run: @escaping (Int) -> Void) {
        self.name = name
        self.run = run
    }
}

/// Measures the contenders in rounds that take turns, and prints for each the medians of what an operation took, and
/// of its ratios to the first within a round: in time, and in the processor time of all threads. The third number of the
/// command line says how many take part, if not all.
public func compare(_ title: String, operations: Int, rounds: Int, _ contenders: [Contender]) {
    let contenders = contenders.prefix(argument(3, or: contenders.count))
    var times = contenders.map { _ in [Double]() }
    var processorTimes = times
    for round in 0...rounds {
        for (index, contender) in contenders.enumerated() {
            let (start, processorStart) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
            contender.run(operations)
            // The first round warms up.
            if round == 0 { continue }
            times[index].append((now(CLOCK_MONOTONIC) - start) / Double(operations))
            processorTimes[index].append(
                (now(CLOCK_PROCESS_CPUTIME_ID) - processorStart) / Double(operations))
        }
    }
    print("\(title): \(operations) operations, medians of \(rounds) rounds, ns each")
    for (index, contender) in contenders.enumerated() {
        let ratios = [times, processorTimes].map { all in median(zip(all[index], all[0]).map { $0 / $1 }) }
        print(
            "  \(contender.name): \(rounded(median(times[index]))), ratio \(rounded(ratios[0]));",
            "of processor time \(rounded(median(processorTimes[index]))), ratio \(rounded(ratios[1]))")
    }
}

/// The number at this place of the command line, or `standard`.
public func argument(_ index: Int, or standard: Int) -> Int {
    guard CommandLine.arguments.count > index else { return standard }
    guard let number = Int(CommandLine.arguments[index]), number > 0 else {
        fatalError("\(CommandLine.arguments[index]) is no positive number")
    }
    return number
}

private func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

private func rounded(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}
