// Gives everything back: by disposers and bags, and by always and flatAlways whatever the outcome.
import UVFutures

struct Broken: Error {}

final class Session {
    private let bag = DisposeBag()
    private let name: String

    init(_ name: String, on loop: EventLoop) {
        self.name = name
        let heartbeat = loop.repeat(every: .seconds(1)) { print("never so fast") }
        heartbeat.future.whenCancelled { print("\(name): heartbeat stopped") }
        bag.add { heartbeat.cancel() }
        bag.add(
            loop.sleep(for: .seconds(60)).tapError(including: .onlyCancellation) { _ in
                print("\(name): time limit cancelled")
            })
        bag.add { print("\(name): closed") }
    }

    func end() { bag.dispose() }
}

func use(_ work: Future<String>, on loop: EventLoop) -> Future<String> {
    work
        .always { print("  work has ended") }
        .flatAlways { loop.sleep(for: .milliseconds(2)).map { print("  connection closed") } }
}

let loop = EventLoop.main
let explicit = Session("first", on: loop)
explicit.end()
try loop.run()
var dropped: Session? = Session("second", on: loop)
loop.schedule(after: .milliseconds(2)) { dropped = nil }
try loop.run()

let outcomes = [
    ("success", loop.succeeded("a row", after: .milliseconds(1))),
    ("failure", loop.completed(.failure(Broken()), after: .milliseconds(1))),
    ("cancelled", loop.never(of: String.self)),
]
for (name, work) in outcomes {
    print("\(name):")
    let use = use(work, on: loop)
    if name == "cancelled" { work.cancel(.evenIfOthersWaiting) }
    use.whenSuccess { print("  value: \($0)") }
    use.whenFailure { print("  error: \($0)") }
    use.whenCancelled { print("  no outcome") }
    try loop.run()
}

let disposer = Disposer { print("once") }
for _ in 1...2 { disposer.dispose() }
let knock = Future<String>(on: loop) { promise in
    let opening = loop.schedule(after: .milliseconds(3)) { promise.succeed("opened") }
    return Disposer {
        opening.cancel()
        print("bell is off")
    }
}
print(try loop.run(until: knock))
