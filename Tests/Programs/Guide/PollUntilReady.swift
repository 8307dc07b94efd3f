// Waits for a service to become ready, with a deadline, and repeats a flaky download until it succeeds.
import UVFutures

enum Status: Equatable { case starting, ready }
struct Truncated: Error { let bytes: Int }

final class Service {
    private let loop: EventLoop
    private let readyAtPoll: Int
    private(set) var polls = 0

    init(readyAtPoll: Int, on loop: EventLoop) {
        self.loop = loop
        self.readyAtPoll = readyAtPoll
    }

    func status() -> Future<Status> {
        polls += 1
        return loop.succeeded(polls < readyAtPoll ? .starting : .ready, after: .milliseconds(1))
    }
}

func waitUntilReady(_ service: Service, within limit: Duration, on loop: EventLoop) -> Future<String> {
    loop.poll(every: .milliseconds(5), until: { $0 == .ready }) { service.status() }
        .timeout(after: limit)
        .map { "\($0) after \(service.polls) polls" }
        .recover { error in
            guard case FutureError.timedOut(let limit)? = error as? FutureError else { throw error }
            return "not ready after \(limit)"
        }
}

let loop = EventLoop.main
print(try loop.run(until: waitUntilReady(Service(readyAtPoll: 4, on: loop), within: .seconds(10), on: loop)))
print(
    try loop.run(
        until: waitUntilReady(Service(readyAtPoll: .max, on: loop), within: .milliseconds(30), on: loop)))

var runs = 0
let download = Deferred {
    runs += 1
    return loop.succeeded(runs * 100, after: .milliseconds(1))
}
.map { bytes in
    guard bytes >= 300 else { throw Truncated(bytes: bytes) }
    return "\(bytes) bytes"
}
.onErrorRepeat(delay: .milliseconds(2), maxRepetitions: 5, when: { $0 is Truncated })

print(try loop.run(until: download.start(on: loop)), "after", runs, "runs")
runs = 0
let hopeless = Deferred { () -> Future<String> in
    runs += 1
    return loop.failed(Truncated(bytes: runs))
}
.onErrorRepeat(delay: .milliseconds(1), maxRepetitions: 2, when: { $0 is Truncated })
let outcome = hopeless.start(on: loop).recover { "gave up: \($0)" }
print(try loop.run(until: outcome), "after", runs, "runs")
