extension EventLoop {
    /// The random numbers of this loop, for calls such as `Int.random(in: 1...6, using: &loop.random)`. On a
    /// real loop, they come from the system's generator.
    ///
    /// On a loop of a simulated world, the seed of the world decides the numbers. So a program that takes all
    /// its random numbers from its loop does the same in each run with that seed. The library takes its own
    /// random numbers from here too, for example for ``Backoff/jitter``.
    public final var random: RandomNumbers {
        get { RandomNumbers(core) }
        set { _ = newValue }
    }

    /// The generator of the random numbers of a loop: ``EventLoop/random``.
    public struct RandomNumbers: RandomNumberGenerator {
        private let loop: LoopCore

        fileprivate init(_ loop: LoopCore) { self.loop = loop }

        public func next() -> UInt64 {
            loop.checkThread()
            return loop.driver.randomNumber()
        }
    }
}
