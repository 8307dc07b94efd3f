// How long it takes to start `/bin/true`, and to hear of its end, one after another.
//
// Usage: ProcessStarts COUNT MEGABYTES    with so much resident memory
//
// Prints two lines for each start, in microseconds: `blocked N`, for which the loop's thread waits, and `ended N`.

import Glibc
import UVFutures

let count = Int(CommandLine.arguments[1])!
let bytes = Int(CommandLine.arguments[2])! << 20
let ballast = UnsafeMutableRawPointer.allocate(byteCount: max(bytes, 1), alignment: 4096)
unsafe memset(ballast, 1, bytes)

let loop = EventLoop.main
let clock = ContinuousClock()

func measure() throws -> Future<Void> {
    let start = clock.now
    let child = try ChildProcess.start(.init("/bin/true"), on: loop)
    let started = clock.now
    return child.exit.map { exit in
        precondition(exit.isSuccess)
        print("blocked \((started - start) / .microseconds(1))")
        print("ended \((clock.now - start) / .microseconds(1))")
    }
}

try loop.run(until: loop.forEach(0..<count) { _ in try measure() })
unsafe ballast.deallocate()
