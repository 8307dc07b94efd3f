import UVFutures

extension Micro {
    /// Makes a timer and cancels it.
    func timerCancel(_ count: Int) throws {
        try inTurn { [loop] in
            for _ in 0..<count { loop.schedule(after: .seconds(60)) {}.cancel() }
            return loop.succeeded()
        }
    }

    /// Cancels one of 10,000 timers and makes another in its stead.
    func timerReplace(_ count: Int) throws {
        try inTurn { [loop] in
            var timers = (0..<10_000).map { number in
                loop.schedule(after: .milliseconds(60_000 + number)) {}
            }
            for number in 0..<count {
                let index = number &* 7919 % timers.count
                timers[index].cancel()
                timers[index] = loop.schedule(after: .milliseconds(60_000 + index)) {}
            }
            for timer in timers { timer.cancel() }
            return loop.succeeded()
        }
    }

    /// Makes `size` timers in no order, which become due together, and waits for them; until so many have fired.
    func timerFire(_ count: Int, size: Int) throws {
        let size = min(size, count)
        try repeating(max(1, count / size)) { [loop] run in
            let start = loop.now
            var fired = 0
            for number in 0..<size {
                let instant = start.advanced(by: .nanoseconds(number &* 7919 % 100_003))
                loop.schedule(at: instant) {
                    fired += 1
                    if fired == size { run.end(fired, expected: size) }
                }
            }
        }
    }
}
