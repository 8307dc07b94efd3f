internal import Glibc
public import Testing

/// The processor time of this thread, in seconds: other threads and programs do not count.
private func processorTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Fails if the work on an input of twice the size takes more than three times as long. `prepare` makes an input of a
/// size, and returns the work on it.
///
/// The sizes rise from `size`, up to `most`, until the work takes long enough to be measured. The least of several times
/// counts, so that only what always takes longer fails: quadratic work takes four times as long.
public func expectLinear(
    from size: Int, upTo most: Int, sourceLocation: SourceLocation = #_sourceLocation,
    _ prepare: (_ size: Int) throws -> () throws -> Void
) rethrows {
    var size = size
    func least(of size: Int, _ count: Int) throws -> Double {
        try (0..<count).map { _ in
            let work = try prepare(size)
            let start = processorTime()
            try work()
            return processorTime() - start
        }.min()!
    }
    while size * 2 < most, try least(of: size, 2) < 0.005 { size *= 2 }
    var (single, double) = (0.0, 0.0)
    // Where a cache ends, one size may look like more: what grows faster does so at half of it, too.
    for _ in 0..<2 {
        (single, double) = (.infinity, .infinity)
        for _ in 0..<30 {
            single = min(single, try least(of: size, 3))
            double = min(double, try least(of: 2 * size, 3))
            // What takes less cannot be measured, and costs nothing.
            if double < max(3 * single, 0.001) { return }
        }
        size /= 2
    }
    size *= 2
    Issue.record(
        "\(size) take \(single) s, and twice as many \(double / single) times as long",
        sourceLocation: sourceLocation)
}
