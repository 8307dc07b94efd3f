import Figures
import UVFutures

extension Micro {
    /// Another thread gives the loop jobs.
    func submit(_ count: Int) throws {
        let other = try EventLoop.onNewThread().loop
        submitAtOnce(count, threads: 1) { other.execute($0) }
    }

    /// Eight other threads give the loop jobs.
    func submitFromEight(_ count: Int) throws {
        let other = try EventLoop.onNewThread().loop
        submitAtOnce(count, threads: 8) { other.execute($0) }
    }

    /// Another thread gives the loop jobs, a thousand at a time, while the loop is busy.
    func submitBursts(_ count: Int) throws {
        let other = try EventLoop.onNewThread().loop
        submitInBursts(count) { other.execute($0) }
    }
}
