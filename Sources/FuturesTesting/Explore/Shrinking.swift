internal import Dispatch

/// The search for the shortest list of faults with which a world still fails.
struct Shrinking {
    /// The time limit of the search.
    private static let duration: DispatchTimeInterval = .seconds(60)
    /// The search ends after this many lists in a row without a failure, for each remaining fault.
    private static let triesPerFault = 120

    private(set) var seed: UInt64
    private(set) var faults: [World.Fault]
    private let isFailure: (UInt64, [World.Fault]) -> Bool
    private let end = DispatchTime.now() + Self.duration

    init(
        _ seed: UInt64, _ faults: [World.Fault], while isFailure: @escaping (UInt64, [World.Fault]) -> Bool
    ) {
        (self.seed, self.faults, self.isFailure) = (seed, faults, isFailure)
    }

    /// Leaves out halves, quarters, and so on down to single faults, as long as the rest still fails. Then leaves out
    /// about two faults at random.
    ///
    /// After a fault is left out, the program is in another state when the next fault begins, and each message takes a
    /// different time. So most of the random tries also move the faults to an earlier time, or use another seed.
    mutating func shrink() {
        if faults.isEmpty || take([], seed) { return }
        leaveOutRuns()
        var random = SplitMix(seed, for: 0)
        var tries = 0
        while faults.count > 1, tries < Self.triesPerFault * faults.count {
            tries += 1
            var fewer = faults.filter { _ in random.below(faults.count + 1) >= 2 }
            guard fewer.count < faults.count else { continue }
            if !tries.isMultiple(of: 3), let last = fewer.last {
                let time = random.time(in: .zero...last.start)
                fewer = fewer.map { $0.moved(earlierBy: time) }
            }
            let otherSeed = UInt64(random.below(1_000_000))
            guard take(fewer, tries.isMultiple(of: 2) ? seed : otherSeed) else { continue }
            leaveOutRuns()
            tries = 0
        }
    }

    private mutating func leaveOutRuns() {
        var size = max(1, faults.count / 2)
        while !faults.isEmpty {
            var start = 0
            var hasShrunk = false
            while start < faults.count {
                var fewer = faults
                fewer.removeSubrange(start..<min(start + size, faults.count))
                if take(fewer, seed) { hasShrunk = true } else { start += size }
            }
            if size > 1 { size /= 2 } else if !hasShrunk { break }
        }
    }

    /// Keeps `fewer` and `seed` if they fail. Returns whether they do.
    private mutating func take(_ fewer: [World.Fault], _ seed: UInt64) -> Bool {
        guard DispatchTime.now() < end, isFailure(seed, fewer) else { return false }
        (faults, self.seed) = (fewer, seed)
        return true
    }
}

extension World.Fault {
    fileprivate func moved(earlierBy time: Duration) -> World.Fault {
        World.Fault(kind: kind, hosts: hosts, start: max(.zero, start - time), duration: duration)
    }
}
