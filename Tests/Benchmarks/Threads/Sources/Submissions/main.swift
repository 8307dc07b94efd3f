// Eight threads that give one loop N jobs each: from the first submission to the last job's end.
//
// Usage: Submissions [N [ROUNDS [CONTENDERS]]]; prints nanoseconds per job, and the ratios to ours.

import Foundation
import NIOCore
import NIOPosix
import Rounds
import UVFutures

let threads = 8

/// Touched on one loop's thread only.
final class Log: @unchecked Sendable {
    private var remaining: Int
    private let ended = DispatchSemaphore(value: 0)

    init(_ jobs: Int) { remaining = jobs }

    func ran() {
        remaining -= 1
        if remaining == 0 { ended.signal() }
    }

    func wait() { ended.wait() }
}

func flood(_ log: Log, _ body: @escaping @Sendable () -> Void) {
    for _ in 0..<threads { Thread.detachNewThread(body) }
    log.wait()
}

let ours = try UVFutures.EventLoop.onNewThread(name: "ours").loop
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let theirs = group.next()
compare(
    "execute from \(threads) threads", operations: argument(1, or: 100_000) * threads,
    rounds: argument(2, or: 11),
    [
        Contender("ours") { [ours] count in
            let log = Log(count)
            flood(log) { for _ in 0..<count / threads { ours.execute { log.ran() } } }
        },
        Contender("SwiftNIO") { [theirs] count in
            let log = Log(count)
            flood(log) { for _ in 0..<count / threads { theirs.execute { log.ran() } } }
        },
    ])
