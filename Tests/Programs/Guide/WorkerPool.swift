// Counts primes on the thread pool, two ranges at a time, while the loop goes on ticking.
import UVFutures

struct Chunk: Sendable {
    let range: Range<Int>
}

nonisolated func countPrimes(in chunk: Chunk) -> Int {
    chunk.range.count { number in
        guard number > 3 else { return number > 1 }
        var divisor = 2
        while divisor * divisor <= number {
            if number % divisor == 0 { return false }
            divisor += 1
        }
        return true
    }
}

let loop = EventLoop.main
let workers = try RemoteContext.limited(maxConcurrent: 2, on: .pool)
let chunks = stride(from: 0, to: 200_000, by: 50_000).map { Chunk(range: $0..<$0 + 50_000) }

var ticks = 0
let ticking = loop.repeat(every: .milliseconds(1)) { ticks += 1 }

let counts = loop.traverse(chunks, maxConcurrent: chunks.count) { chunk in
    workers.execute(on: loop) { countPrimes(in: chunk) }
}
.always { ticking.cancel() }

for (chunk, count) in zip(chunks, try loop.run(until: counts)) {
    print("\(chunk.range): \(count)")
}
print("the loop ticked meanwhile:", ticks > 0)

let text = loop.succeeded(Chunk(range: 0..<100))
    .map(on: .pool) { chunk in countPrimes(in: chunk) }
    .map { "primes below 100: \($0)" }
print(try loop.run(until: text))

struct Empty: Error {}
let failing = loop.succeeded(Chunk(range: 5..<5))
    .map(on: .pool) { chunk in
        if chunk.range.isEmpty { throw Empty() }
        return "\(countPrimes(in: chunk)) primes"
    }
    .recover { "failed on the pool: \($0)" }
print(try loop.run(until: failing))
