// Ten `map`s on a pending `EventLoopFuture`, then its completion; N times over, on the loop's thread.
//
// Usage: NIOMapChain N; prints the nanoseconds per `map`.

import NIOCore
import NIOPosix

let mapsPerChain = 10

// Touched on the loop's thread only.
final class Run: @unchecked Sendable {
    var completed = 0

    func chain(on loop: any EventLoop) {
        let promise = loop.makePromise(of: Int.self)
        var future = promise.futureResult
        for _ in 0..<mapsPerChain { future = future.map { $0 + 1 } }
        future.whenSuccess { _ in self.completed += 1 }
        promise.succeed(1)
    }
}

func time(chains: Int, on loop: any EventLoop) throws -> Duration {
    try loop.submit {
        let run = Run()
        let elapsed = ContinuousClock().measure {
            for _ in 0..<chains { run.chain(on: loop) }
        }
        precondition(run.completed == chains)
        return elapsed
    }.wait()
}

let chains = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 100_000
let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
_ = try time(chains: 1000, on: loop)  // to warm up
let elapsed = try time(chains: chains, on: loop)
print(elapsed / .nanoseconds(chains * mapsPerChain))
