// Futures as publishers and publishers as sequences, on one loop.

import OpenCombine
import UVFutures

struct Unlucky: Error {}

let loop = EventLoop.main
var seen: [String] = []

// A future's value goes through operators of OpenCombine, its failure too.
let answer = loop.succeeded(20, after: .milliseconds(2))
let success = answer.publisher.map { 2 * $0 + 2 }.sink { completion in
    seen.append("\(completion)")
} receiveValue: {
    seen.append("\($0)")
}
let failure = loop.failed(Unlucky(), of: Int.self).publisher.replaceError(with: 0).sink {
    seen.append("\($0)")
}
try loop.run()
precondition(seen == ["0", "42", "finished"], "\(seen)")

// Cancelling the subscription cancels a future that nobody else waits for.
let pending = loop.sleep(for: .seconds(3600))
pending.publisher.sink { _ in
} receiveValue: {
}.cancel()
try loop.run()
precondition("\(pending)" == "Future(cancelled)", "\(pending)")

// A publisher is asked for one value at a time, and no more than the consumer takes.
var published = 0
let numbers = (1...1000).publisher.handleEvents(receiveOutput: { _ in published += 1 })
let sum = UVFutures.Future(on: loop) {
    var sum = 0
    for try await number in numbers.values(on: loop) {
        sum += number
        try await loop.sleep(for: .milliseconds(1)).value
        if number == 5 { break }
    }
    return sum
}
let five = try loop.run(until: sum)
precondition(five == 15 && published == 5, "\(published) were published")

// Its end and its failure reach the consumer.
let last = UVFutures.Future(on: loop) {
    var last = 0
    for try await number in [1, 2, 3].publisher.values(on: loop) { last = number }
    do {
        for try await _ in Fail<Int, Unlucky>(error: Unlucky()).values(on: loop) {}
    } catch is Unlucky {
        return last
    }
    return 0
}
let three = try loop.run(until: last)
precondition(three == 3)
withExtendedLifetime((success, failure)) {}
print("OpenCombine: passed")
