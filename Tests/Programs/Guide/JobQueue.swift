// A queue of two jobs at a time: one queued job is cancelled, later the rest is aborted.
import UVFutures

struct ShiftIsOver: Error {}

final class JobBoard {
    let queue: FutureQueue<Void>
    private let loop: EventLoop
    private var jobs: [(name: String, future: Future<String>)] = []

    init(on loop: EventLoop) {
        self.loop = loop
        queue = FutureQueue(maxConcurrent: 2, on: loop)
    }

    func add(_ name: String, takes duration: Duration) {
        let future = queue.enqueue {
            print("\(name) starts")
            return self.loop.succeeded("\(name) is done", after: duration)
        }
        jobs.append((name, future))
    }

    subscript(name: String) -> Future<String>? {
        jobs.first { $0.name == name }?.future
    }

    func report() -> Future<[String]> {
        Future.mapEach(jobs.map(\.future)) { result, index in
            switch result {
            case .success(let text): text
            case .failure(let error) where result.isCancelled:
                "\(self.jobs[index].name) was cancelled: \(error)"
            case .failure(let error): "\(self.jobs[index].name) failed: \(error)"
            }
        }
    }
}

let loop = EventLoop.main
let board = JobBoard(on: loop)
board.add("sweep", takes: .milliseconds(20))
board.add("paint", takes: .milliseconds(60))
board.add("polish", takes: .milliseconds(20))
board.add("varnish", takes: .seconds(60))
board.add("pack", takes: .milliseconds(20))
board.add("ship", takes: .seconds(60))
board.add("bill", takes: .seconds(60))
print("cancelled polish:", board["polish"]?.cancel() ?? false)
print("running: \(board.queue.runningCount), queued: \(board.queue.queuedCount)")

board["pack"]?.delay(by: .milliseconds(20)).whenSuccess { _ in
    print("running: \(board.queue.runningCount), queued: \(board.queue.queuedCount)")
    board.queue.abort(with: ShiftIsOver(), close: true)
}
for line in try loop.run(until: board.report()) { print(line) }
let late = board.queue.enqueue { "late" }.recover { "refused: \($0)" }
print(try loop.run(until: late))
