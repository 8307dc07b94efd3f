// Asks several mirrors at once, takes the first that succeeds, and cancels those that have lost.
import UVFutures

struct MirrorDown: Error { let name: String }

final class Mirror {
    let name: String
    private let loop: EventLoop
    private let delay: Duration
    private let isUp: Bool

    init(_ name: String, delay: Duration, isUp: Bool = true, on loop: EventLoop) {
        self.name = name
        self.delay = delay
        self.isUp = isUp
        self.loop = loop
    }

    func download(_ file: String) -> Future<String> {
        loop.sleep(for: delay)
            .map {
                guard self.isUp else { throw MirrorDown(name: self.name) }
                return "\(file) from \(self.name)"
            }
            .tapError { print("\(self.name) failed: \($0)") }
            .tapError(including: .onlyCancellation) { _ in print("\(self.name) was cancelled") }
    }
}

func fastest(_ file: String, from mirrors: [Mirror]) -> Future<String> {
    Future.firstSuccess(mirrors.map { $0.download(file) })
}

let loop = EventLoop.main
let mirrors = [
    Mirror("oslo", delay: .milliseconds(5), isUp: false, on: loop),
    Mirror("rome", delay: .milliseconds(50), on: loop),
    Mirror("lima", delay: .seconds(60), on: loop),
    Mirror("cairo", delay: .seconds(90), on: loop),
]
print(try loop.run(until: fastest("a.zip", from: mirrors)))

let dead = ["nuuk", "bern"].map { Mirror($0, delay: .milliseconds($0.count * 5), isUp: false, on: loop) }
let none = fastest("b.zip", from: dead).recover { error in
    guard let error = error as? AggregateError else { throw error }
    return "all \(error.errors.count) failed"
}
print(try loop.run(until: none))

let limited = fastest("c.zip", from: [mirrors[2], mirrors[3]])
    .timeout(after: .milliseconds(20))
    .recover { "gave up: \($0)" }
print(try loop.run(until: limited))
try loop.run()
