// A loop written as recursion; ends in the midst of it, after N steps, for its memory to be counted.
//
// Usage: FlatMapLoop N

import Glibc
import UVFutures

final class Steps {
    let loop: EventLoop
    var remaining: Int

    init(_ count: Int, on loop: EventLoop) {
        self.loop = loop
        remaining = count
    }

    func run() -> Future<Void> {
        remaining -= 1
        if remaining == 0 { exit(0) }
        // Every other step has completed already; the others complete later.
        let step: Future<Void> = remaining.isMultiple(of: 2) ? loop.succeeded() : loop.submit {}
        return step.flatMap { self.run() }
    }
}

let count = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 1_000_000
let loop = try EventLoop()
try loop.run(until: Steps(count, on: loop).run())
