extension LoopCore {
    private static let namesAtEnd = 10

    /// Notes that the end of the loop waits for bodies. Prints a report once if the wait takes long.
    func noteWaitForBodies() {
        guard ending.slowAt != .max else { return }
        let now = clock
        let due = ending.slowAt ?? now.addingSaturated(ending.patience.wholeNanoseconds!)
        ending.slowAt = due
        if now >= due { return sayWhatIsAwaited() }
        driver.arm(deadline: due, keepsAlive: false)
    }

    /// The time at which the driver has to call for that report, since no timers are left. `nil` if no report
    /// is due.
    var alarmAtEnd: UInt64? { ending.slowAt == .max ? nil : ending.slowAt }

    /// Prints the names of the bodies that the end of the loop waits for. Prints them once.
    package func sayWhatIsAwaited() {
        guard isShutDown, bodies.count > 0, ending.slowAt != .max else { return }
        ending.slowAt = .max
        var names = bodies.names.byCount
        if names.count > Self.namesAtEnd {
            names = names.prefix(Self.namesAtEnd) + ["\(names.count - Self.namesAtEnd) others"]
        }
        let owned = ending.hasLostOwner ? "The end of a loop that was released" : "shutdown()"
        let end = isAttached ? "detach()" : owned
        StandardError.print(
            "\(end) has waited for \(ending.patience) for bodies that were cancelled and do not return: "
                + "\(names.joined(separator: ", ")). Let them return when Task.isCancelled is true, or "
                + "await futures of the loop, which all fail now.")
    }
}

extension [String: Int] {
    /// The names. A count that is more than one stands behind its name. The highest counts come first.
    fileprivate var byCount: [String] {
        sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { $0.key + ($0.value > 1 ? " (\($0.value) of them)" : "") }
    }
}
