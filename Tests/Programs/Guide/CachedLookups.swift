// Looks names up in a slow directory through a cache: one fetch for many askers, expiry, failures not kept.
import UVFutures

enum DirectoryError: Error { case unreachable }

final class Directory {
    private let loop: EventLoop
    private let cache: FutureCache<String, Int>
    private(set) var fetches = 0
    var isUp = true

    init(on loop: EventLoop) {
        self.loop = loop
        cache = FutureCache(costLimit: 100, on: loop)
    }

    func age(of name: String) -> Future<Int> {
        cache.findOrFetch(name, expiresAfter: .milliseconds(400)) {
            self.fetches += 1
            return self.loop.sleep(for: .milliseconds(5)).map {
                guard self.isUp else { throw DirectoryError.unreachable }
                return name.count * 10
            }
        }
    }
}

let loop = EventLoop.main
let directory = Directory(on: loop)

let three = Future.all([directory.age(of: "ada"), directory.age(of: "ada"), directory.age(of: "grace")])
print("together:", try loop.run(until: three), "fetches:", directory.fetches)

print("again:", try loop.run(until: directory.age(of: "ada")), "fetches:", directory.fetches)

let expired = loop.sleep(for: .milliseconds(600)).flatMap { directory.age(of: "ada") }
print("expired:", try loop.run(until: expired), "fetches:", directory.fetches)

directory.isUp = false
let failures = Future.allSettled([directory.age(of: "bob"), directory.age(of: "bob")])
for result in try loop.run(until: failures) {
    if case .failure(let error) = result { print("down:", error) }
}
print("fetches:", directory.fetches)

directory.isUp = true
print("up again:", try loop.run(until: directory.age(of: "bob")), "fetches:", directory.fetches)

let flight = SingleFlight<String>(on: loop)
var runs = 0
let shared = (1...3).map { number in
    flight.perform {
        runs += 1
        return loop.sleep(for: .milliseconds(2)).map { "shared by all" }
    }
    .map { "\(number): \($0)" }
}
print(try loop.run(until: Future.all(shared)), "runs:", runs)
