import Figures
import NIOCore

extension NIOMicro {
    /// Another thread gives the loop jobs.
    func submit(_ count: Int) throws {
        submitAtOnce(count, threads: 1) { [loop] in loop.execute($0) }
    }

    /// Eight other threads give the loop jobs.
    func submitFromEight(_ count: Int) throws {
        submitAtOnce(count, threads: 8) { [loop] in loop.execute($0) }
    }

    /// Another thread gives the loop jobs, a thousand at a time, while the loop is busy.
    func submitBursts(_ count: Int) throws {
        submitInBursts(count) { loop.execute($0) }
    }
}
