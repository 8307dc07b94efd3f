internal import Futures
internal import Glibc

extension World {
    /// The time that a message takes between two hosts.
    public enum Latency: Hashable, Sendable {
        /// Each message takes the same time.
        case constant(Duration)
        /// All times in the range are equally likely.
        case uniform(ClosedRange<Duration>)
        /// Most messages take a little more than `least`, and a few take much longer. `mean` is the average time added
        /// to `least`.
        case exponential(least: Duration, mean: Duration)

        static let none = Latency.constant(.zero)

        /// Traps if a time is negative.
        func check() {
            let times =
                switch self {
                case .constant(let time): [time]
                case .uniform(let range): [range.lowerBound]
                case .exponential(let least, let mean): [least, mean]
                }
            if let time = times.first(where: { $0 < .zero }) {
                fatalError("A latency of \(time) is negative; give zero or more.")
            }
        }

        /// Returns a time in nanoseconds. With `nil` for `choices`, nothing is left to chance.
        func draw(_ choices: inout Choices?) -> UInt64 {
            switch self {
            case .constant(let time): return time.wholeNanoseconds!
            case .uniform(let range):
                let least = range.lowerBound.wholeNanoseconds!
                let most = range.upperBound.wholeNanoseconds!
                guard least < most, choices != nil else { return least }
                let number = choices!.latency.next()
                return most - least == .max ? number : least + number % (most - least + 1)
            case .exponential(let least, let mean):
                guard choices != nil else { return least.wholeNanoseconds! }
                let share = -log(choices!.latency.positiveFraction())
                let more = Double(mean.wholeNanoseconds!) * share
                return least.wholeNanoseconds!.addingSaturated(more < 0x1p64 ? UInt64(more) : .max)
            }
        }
    }
}
