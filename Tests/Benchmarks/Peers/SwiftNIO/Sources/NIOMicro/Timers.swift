import NIOCore

extension NIOMicro {
    /// Makes a timer and cancels it.
    func timerCancel(_ count: Int) throws {
        try loop.submit { [loop] in
            for _ in 0..<count { loop.scheduleTask(in: .seconds(60)) {}.cancel() }
        }.wait()
    }

    /// Cancels one of 10,000 timers and makes another in its stead.
    func timerReplace(_ count: Int) throws {
        try loop.submit { [loop] in
            var timers = (0..<10_000).map { number in
                loop.scheduleTask(in: .milliseconds(60_000 + Int64(number))) {}
            }
            for number in 0..<count {
                let index = number &* 7919 % timers.count
                timers[index].cancel()
                timers[index] = loop.scheduleTask(in: .milliseconds(60_000 + Int64(index))) {}
            }
            for timer in timers { timer.cancel() }
        }.wait()
    }

    /// Makes `size` timers in no order, which become due together, and waits for them; until so many have fired.
    func timerFire(_ count: Int, size: Int) throws {
        let size = min(size, count)
        for _ in 0..<max(1, count / size) {
            try loop.flatSubmit { [loop] in
                let ended = loop.makePromise(of: Void.self)
                let start = NIODeadline.now()
                let fired = Fired()
                for number in 0..<size {
                    let deadline = start + .nanoseconds(Int64(number &* 7919 % 100_003))
                    loop.scheduleTask(deadline: deadline) {
                        fired.count += 1
                        if fired.count == size { ended.succeed() }
                    }
                }
                return ended.futureResult
            }.wait()
        }
    }
}

/// Touched on the loop's thread only.
private final class Fired: @unchecked Sendable {
    var count = 0
}
