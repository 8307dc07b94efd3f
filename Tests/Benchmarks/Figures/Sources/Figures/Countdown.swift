import Dispatch

/// Ends when so many jobs have run. They run on one thread only; another waits for the end.
public final class Countdown: @unchecked Sendable {
    private var remaining: Int
    private let ended = DispatchSemaphore(value: 0)

    public init(_ jobs: Int) { remaining = jobs }

    public func ran() {
        remaining -= 1
        if remaining == 0 { ended.signal() }
    }

    public func wait() { ended.wait() }
}

/// Submits `count` jobs to a loop through `execute`, each burst of a thousand while the loop is kept busy, so that
/// nothing depends on which thread is faster: each burst wakes the loop once.
public func submitInBursts(_ count: Int, execute: (@escaping @Sendable () -> Void) -> Void) {
    for start in stride(from: 0, to: count, by: 1000) {
        let size = min(1000, count - start)
        let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let countdown = Countdown(size)
        execute {
            isBusy.signal()
            mayGoOn.wait()
        }
        isBusy.wait()
        for _ in 0..<size { execute { countdown.ran() } }
        mayGoOn.signal()
        countdown.wait()
    }
}

/// Submits `count` jobs to a loop through `execute`, from so many threads, none of which waits for another.
public func submitAtOnce(
    _ count: Int, threads: Int, execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
) {
    let each = max(1, count / threads)
    let countdown = Countdown(each * threads)
    onThreads(threads) { for _ in 0..<each { execute { countdown.ran() } } }
    countdown.wait()
}
