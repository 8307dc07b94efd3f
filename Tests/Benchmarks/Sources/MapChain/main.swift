// Ten `map`s on a pending future, then its completion; N times over, in one run of the loop.
//
// Usage: MapChain N; prints the nanoseconds per `map`.

import UVFutures

let mapsPerChain = 10

final class Run {
    let loop: EventLoop
    var remaining: Int

    init(chains: Int, on loop: EventLoop) {
        self.loop = loop
        remaining = chains
    }

    // The last callback of a chain begins the next one, so that the loop goes round as in a program.
    func chain() {
        let promise = loop.makePromise(of: Int.self)
        var future = promise.future
        for _ in 0..<mapsPerChain { future = future.map { $0 + 1 } }
        future.whenSuccess { _ in
            self.remaining -= 1
            if self.remaining > 0 { self.chain() }
        }
        promise.succeed(1)
    }
}

func time(chains: Int, on loop: EventLoop) throws -> Duration {
    let run = Run(chains: chains, on: loop)
    let elapsed = try ContinuousClock().measure {
        run.chain()
        try loop.run()
    }
    precondition(run.remaining == 0)
    return elapsed
}

let chains = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 100_000
let loop = try EventLoop()
_ = try time(chains: 1000, on: loop)  // to warm up
let elapsed = try time(chains: chains, on: loop)
print(elapsed / .nanoseconds(chains * mapsPerChain))
