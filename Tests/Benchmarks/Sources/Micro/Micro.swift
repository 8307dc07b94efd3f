import UVFutures

struct Micro {
    let loop: EventLoop

    /// Runs `body` in a turn of the loop, and the loop until what `body` returns has completed.
    func inTurn(_ body: @escaping () throws -> Future<Void>) throws {
        try loop.run(until: loop.submit(body).flatten())
    }

    /// Calls `body` so many times, each time from the last callback of the time before.
    func repeating(_ count: Int, _ body: @escaping (Run) -> Void) throws {
        let run = Run(count, body, ended: loop.makePromise())
        try inTurn {
            body(run)
            return run.ended.future
        }
    }
}

final class Run {
    private var remaining: Int
    private let body: (Run) -> Void
    let ended: Promise<Void>

    init(_ count: Int, _ body: @escaping (Run) -> Void, ended: Promise<Void>) {
        remaining = count
        self.body = body
        self.ended = ended
    }

    /// What is measured has come to its end, with `value`.
    func end(_ value: Int, expected: Int) {
        precondition(value == expected)
        remaining -= 1
        if remaining > 0 { body(self) } else { ended.succeed() }
    }
}

/// How many chains of ten make so many operations.
let chainLength = 10
func chains(_ count: Int) -> Int { max(1, count / chainLength) }
