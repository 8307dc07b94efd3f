// Asks several services and prints a report of their answers, their sum, and a combination of types.
import UVFutures

struct OutOfOrder: Error, CustomStringConvertible {
    let service: String
    var description: String { "\(service) is out of order" }
}

struct Service {
    let name: String
    let stock: Int?
    let delay: Duration

    func count(on loop: EventLoop) -> Future<Int> {
        loop.succeeded(stock, after: delay).unwrap(orFail: OutOfOrder(service: name))
    }
}

let loop = EventLoop.main
let services = [
    Service(name: "north", stock: 12, delay: .milliseconds(30)),
    Service(name: "south", stock: nil, delay: .milliseconds(5)),
    Service(name: "east", stock: 30, delay: .milliseconds(1)),
    Service(name: "west", stock: nil, delay: .milliseconds(60)),
]

let results = try loop.run(until: Future.allSettled(services.map { $0.count(on: loop) }))
for (service, result) in zip(services, results) {
    switch result {
    case .success(let count): print("\(service.name): \(count)")
    case .failure(let error): print("\(service.name): \(error)")
    }
}
print("\(results.filter(\.isSuccess).count) of \(results.count) answered")

let working = services.filter { $0.stock != nil }
let total = Future.reduce(working.map { $0.count(on: loop) }, 0, +)
print("total:", try loop.run(until: total))

let entries = working.map { service in service.count(on: loop).map { (service.name, $0) } }
let names = Future.reduce(entries, into: [String: Int]()) { table, entry in table[entry.0] = entry.1 }
print("table:", try loop.run(until: names).sorted { $0.key < $1.key })

let header = combine(
    loop.succeeded("inventory", after: .milliseconds(3)),
    loop.succeeded(2.5, after: .milliseconds(1)),
    services[0].count(on: loop)
)
.map { title, price, count in "\(title): \(count) pieces, \(price * Double(count)) in all" }
print(try loop.run(until: header))

let all = Future.all(services.map { $0.count(on: loop) }, failFast: false)
    .map { "\($0)" }
    .recover { error in
        guard let error = error as? AggregateError else { throw error }
        return "\(error.errors.count) errors: \(error.errors)"
    }
print(try loop.run(until: all))
