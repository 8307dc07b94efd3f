import NIOCore

struct NIOMicro {
    let loop: any EventLoop

    /// Calls `body` so many times on the loop's thread; what is measured ends within each call.
    func repeating(_ count: Int, _ body: @escaping @Sendable (Run) -> Void) throws {
        let ended = try loop.submit {
            let run = Run()
            for _ in 0..<count { body(run) }
            return run.ended
        }.wait()
        precondition(ended == count)
    }
}

/// Touched on the loop's thread only.
final class Run: @unchecked Sendable {
    private(set) var ended = 0

    /// What is measured has come to its end, with `value`.
    func end(_ value: Int, expected: Int) {
        precondition(value == expected)
        ended += 1
    }
}

/// How many chains of ten make so many operations.
let chainLength = 10
func chains(_ count: Int) -> Int { max(1, count / chainLength) }
