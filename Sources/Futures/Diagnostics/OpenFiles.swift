internal import Synchronization

/// The open files and directories of a loop.
package struct OpenFiles {
    /// The description of each of them, in one line.
    package var lines: [ObjectIdentifier: String] = [:]
    package let operations = RunningCount()
}

/// A number of operations that wait for a thread or run on one. Any thread may use it.
package final class RunningCount: Sendable {
    private let atomic = Atomic(0)

    package var value: Int { atomic.load(ordering: .relaxed) }

    /// Counts an operation until `end` is called, or until the last reference to the returned object is released.
    package func begin() -> Running { Running(self) }

    package final class Running: Sendable {
        private let count: RunningCount
        private let hasEnded = Atomic(false)

        fileprivate init(_ count: RunningCount) {
            self.count = count
            count.atomic.wrappingAdd(1, ordering: .relaxed)
        }

        deinit { end() }

        package func end() {
            if !hasEnded.exchange(true, ordering: .relaxed) {
                count.atomic.wrappingSubtract(1, ordering: .relaxed)
            }
        }
    }
}
