/// The rule for the waits between attempts. Each wait is ``factor`` times as long as the wait before it, but
/// at most ``maximum``.
public struct Backoff: Sendable {
    /// The wait before the second attempt. Must not be negative.
    public var initial: Duration
    /// The number by which each wait is multiplied to get the next wait. Must be 1 or more, and finite.
    public var factor: Double
    /// The longest wait, even after the random change by ``jitter``. Must not be negative.
    public var maximum: Duration
    /// The largest random change of a wait, as a fraction of that wait: a number from 0 to 1. A jitter of 0.2
    /// shortens or lengthens each wait by up to a fifth. So clients that failed at the same time do not try
    /// again at the same time.
    public var jitter: Double

    /// A backoff that waits for 100 ms, then 200 ms, 400 ms … up to 30 s. Each wait is changed at random by up to a
    /// fifth.
    public static let exponential = exponential(initial: .milliseconds(100))

    public static func exponential(
        initial: Duration, factor: Double = 2, maximum: Duration = .seconds(30), jitter: Double = 0.2
    ) -> Backoff {
        Backoff(initial: initial, factor: factor, maximum: maximum, jitter: jitter)
    }

    /// Returns a backoff that always waits for `delay`.
    public static func constant(_ delay: Duration) -> Backoff {
        Backoff(initial: delay, factor: 1, maximum: delay, jitter: 0)
    }

    /// Returns the time to wait after the failure of the attempt with the number `attempt`. The first attempt
    /// has the number 1. `generator` gives the random numbers for ``jitter``. Traps if `attempt` is less than one, or if a
    /// value of the backoff is out of its range.
    public func delay(
        afterAttempt attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        if attempt < 1 { Misuse.size(attempt, of: "A back-off's attempt number", atLeast: 1) }
        if let complaint { Misuse.sentence("A back-off is not usable: \(complaint).") }
        var (scale, power, exponent) = (1.0, factor, attempt - 1)
        while exponent > 0 {
            if exponent & 1 == 1 { scale *= power }
            power *= power
            exponent >>= 1
        }
        if jitter > 0 { scale *= Double.random(in: (1 - jitter)...(1 + jitter), using: &generator) }
        // Compared before the multiplication, which traps if the product is no duration.
        guard initial > .zero else { return .zero }
        return scale < maximum / initial ? initial * scale : maximum
    }

    /// A text that says which value is out of range. `nil` if all values are valid.
    package var complaint: String? {
        if initial < .zero { return "an initial delay of \(initial) is negative; give zero or more" }
        if maximum < .zero { return "a maximum delay of \(maximum) is negative; give zero or more" }
        if !(factor >= 1) || factor.isInfinite {
            return "a back-off's factor must be finite and at least 1, not \(factor)"
        }
        if !(0...1).contains(jitter) { return "a jitter of \(jitter) is out of range; give 0 to 1" }
        return nil
    }
}
