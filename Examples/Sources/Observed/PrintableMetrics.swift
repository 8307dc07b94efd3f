import Metrics
import Synchronization

/// The smallest metrics backend there is: sums and counts, by label.
final class PrintableMetrics: MetricsFactory {
    private let sums = Mutex<[String: (count: Int64, sum: Int64)]>([:])

    var lines: [String] {
        sums.withLock { $0 }.sorted { $0.key < $1.key }.map {
            "\($0.key): \($0.value.count) times, \($0.value.sum) in all"
        }
    }

    fileprivate func add(_ amount: Int64, to label: String) {
        sums.withLock { sums in
            let old = sums[label] ?? (0, 0)
            sums[label] = (old.count + 1, old.sum + amount)
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Sum(label, self)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Sum(label, self)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Sum(label + "_nanoseconds", self)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

private final class Sum: CounterHandler, RecorderHandler, TimerHandler {
    private let label: String
    private let metrics: PrintableMetrics

    init(_ label: String, _ metrics: PrintableMetrics) {
        self.label = label
        self.metrics = metrics
    }

    func increment(by amount: Int64) { metrics.add(amount, to: label) }
    func reset() {}
    func record(_ value: Int64) { metrics.add(value, to: label) }
    func record(_ value: Double) { metrics.add(Int64(value), to: label) }
    func recordNanoseconds(_ duration: Int64) { metrics.add(duration, to: label) }
}
