import Futures
import FuturesTesting
import Testing
import UVFutures

/// Runs `body` with a supervisor on a virtual loop, and with the events that it has told.
func withSupervisor(_ body: (ProcessSupervisor, EventLoop, () -> [String]) throws -> Void) throws {
    try withLoop(.virtual) { loop in
        loop.simulatedPrograms["fail"] = { _ in loop.succeeded(1, after: .milliseconds(10)) }
        loop.simulatedPrograms["finish"] = { _ in loop.succeeded(0, after: .milliseconds(10)) }
        loop.simulatedPrograms["daemon"] = { process in
            process.signal(.terminate).flatMap { loop.succeeded(0, after: .seconds(1)) }
        }
        let supervisor = ProcessSupervisor(on: loop)
        var events: [String] = []
        supervisor.onEvent = { events.append("\($0)") }
        try body(supervisor, loop) {
            defer { events = [] }
            return events
        }
    }
}

var steady: ProcessSupervisor.Restarts {
    var restarts = ProcessSupervisor.Restarts()
    restarts.backoff = .exponential(initial: .seconds(1), jitter: 0)
    restarts.limit = 3
    return restarts
}
