internal import Futures

extension World {
    /// Injects faults from now on, until the world's clock shows `end`. The seed decides which faults happen. All
    /// faults end by `end`, so that the world is fault-free from then on.
    ///
    /// If the world was created with `faults`, these happen instead. Call this function once, after all hosts have been
    /// added. Traps if `mix` names a host that the world does not have.
    public func injectFaults(_ mix: FaultMix = FaultMix(), until end: Duration) {
        if end < .zero {
            fatalError("injectFaults(until:) of a world was given \(end); time only moves forward.")
        }
        faults = givenFaults ?? makeFaults(mix, until: end)
        for fault in faults {
            for name in fault.hosts { _ = host(name) }
            simulation.call(after: max(.zero, fault.start - now)) { [unowned self] in begin(fault) }
        }
    }

    private func makeFaults(_ mix: FaultMix, until end: Duration) -> [Fault] {
        if mix.interval.upperBound < .milliseconds(1) {
            fatalError(
                "The upper bound of the interval of faults must be at least a millisecond, not "
                    + "\(mix.interval.upperBound)."
            )
        }
        for range in [mix.interval, mix.duration] where range.lowerBound < .zero {
            fatalError(
                "The interval and the duration of faults must be zero or more, not \(range.lowerBound).")
        }
        var random = SplitMix(seed, for: 4)
        let names = mix.hosts ?? hosts.map(\.name)
        let kinds = mix.kinds.filter { !$0.isOfLink || names.count > 1 }
        guard !names.isEmpty, !kinds.isEmpty else { return [] }
        var faults: [Fault] = []
        var start = now
        while true {
            start += random.time(in: mix.interval)
            guard start < end else { return faults }
            if faults.count == 1_000_000 {
                fatalError("Until \(end), there would be more than a million faults; give an earlier end.")
            }
            let kind = kinds[random.below(kinds.count)]
            let first = random.below(names.count)
            let second = (first + 1 + random.below(max(1, names.count - 1))) % names.count
            let duration =
                kind == .breakConnections ? .zero : min(random.time(in: mix.duration), end - start)
            faults.append(
                Fault(
                    kind: kind, hosts: kind.isOfLink ? [names[first], names[second]] : [names[first]],
                    start: start, duration: duration))
        }
    }

    private func begin(_ fault: Fault) {
        note("fault: \(fault)")
        let (a, b) = (fault.hosts[0], fault.hosts.last!)
        switch fault.kind {
        case .crash:
            host(a).crash()
            atEnd(of: fault) { $0.host(a).restart() }
        case .pause:
            host(a).pause()
            atEnd(of: fault) { $0.host(a).resume() }
        case .partition: change(a, b, both: true, during: fault) { $0.cuts += $1 }
        case .partitionOneWay: change(a, b, both: false, during: fault) { $0.cuts += $1 }
        case .hold: change(a, b, both: true, during: fault) { $0.holds += $1 }
        case .slow:
            let delay = min(fault.duration, .seconds(1)).wholeNanoseconds!
            change(a, b, both: true, during: fault) { faults, sign in
                faults.delay = sign > 0 ? faults.delay + delay : faults.delay - delay
            }
        case .unreliable: change(a, b, both: true, during: fault) { $0.unreliable += $1 }
        case .breakConnections: link(a, b).breakConnections()
        case .outOfDescriptors:
            host(a).shortages += 1
            atEnd(of: fault) { $0.host(a).shortages -= 1 }
        case .slowDisk:
            let delay = min(fault.duration, .seconds(1)).wholeNanoseconds!
            host(a).disk.delay += delay
            atEnd(of: fault) { $0.host(a).disk.delay -= delay }
        case .fullDisk: changeDisk(of: a, during: fault) { $0.shortages += $1 }
        case .failingDisk: changeDisk(of: a, during: fault) { $0.failures += $1 }
        case .silentName:
            names.silence(a)
            atEnd(of: fault) { $0.names.add($0.host(a)) }
        }
    }

    /// Changes the disk of a host, and reverts the change when the fault ends. `change` gets 1 and then -1.
    private func changeDisk(
        of name: String, during fault: Fault, _ change: @escaping (inout DiskState, _ sign: Int) -> Void
    ) {
        let store = host(name).disk.store
        store.with { change(&$0, 1) }
        atEnd(of: fault) { _ in store.with { change(&$0, -1) } }
    }

    /// Changes the paths between two hosts, and reverts the change when the fault ends. `change` gets 1 and then -1.
    private func change(
        _ a: String, _ b: String, both: Bool, during fault: Fault,
        _ change: @escaping (inout PathFaults, _ sign: Int) -> Void
    ) {
        let paths = simulation.routes.paths(between: host(a), host(b))
        let changed = both ? paths : [paths[0]]
        for path in changed { change(&path.faults, 1) }
        atEnd(of: fault) { world in
            for path in changed { change(&path.faults, -1) }
            world.note("over: \(fault)")
        }
    }

    private func atEnd(of fault: Fault, _ body: @escaping (World) -> Void) {
        simulation.call(after: fault.duration) { [unowned self] in body(self) }
    }
}

extension SplitMix {
    /// Returns a time in whole milliseconds.
    mutating func time(in range: ClosedRange<Duration>) -> Duration {
        let least = Int(range.lowerBound.wholeNanoseconds! / 1_000_000)
        let most = Int(range.upperBound.wholeNanoseconds! / 1_000_000)
        return .milliseconds(least + below(most - least + 1))
    }
}
