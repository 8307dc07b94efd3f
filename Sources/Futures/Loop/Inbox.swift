internal import Synchronization

/// What other threads hand to the loop: a list that is swapped out whole, and one wake-up for each time it fills.
final class Inbox: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isOpen = true
    }

    private let state = Mutex(State())

    /// `false` once the inbox is closed. Wakes under the lock, so never after `close`.
    func add(_ job: @escaping @Sendable () -> Void, waking loop: EventLoop) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.jobs.append(job)
            if state.jobs.count == 1 { loop.driver.wake() }
            return true
        }
    }

    func wake(_ loop: EventLoop) {
        state.withLock { state in
            if state.isOpen { loop.driver.wake() }
        }
    }

    func takeAll() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Refuses jobs from now on, and returns those that it took.
    func close() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.jobs = [] }
            state.isOpen = false
            return state.jobs
        }
    }
}
