import UVFutures

/// How many primes there are: on Node's loop but for the counting, like its caller.
nonisolated(nonsending) func countPrimes(below limit: Int, on loop: EventLoop) async throws -> Int {
    guard limit >= 0 else {
        throw FutureError.invalidArgument("there is no prime below \(limit): give more than 2")
    }
    try await loop.sleep(for: .milliseconds(1)).value
    // On Swift's threads: whatever a body awaits runs on the loop otherwise.
    let count = await withTaskExecutorPreference(globalConcurrentExecutor) { await countPrimes(below: limit) }
    precondition(loop.isCurrent)
    return count
}

@concurrent private func countPrimes(below limit: Int) async -> Int {
    guard limit > 2 else { return 0 }
    return (2..<limit).count { number in !(2..<number).contains { number % $0 == 0 } }
}
