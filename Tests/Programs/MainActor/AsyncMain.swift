import UVFutures

@main struct Program {
    static func main() async throws {
        let answer = try EventLoop.runMain { loop in
            await Task.detached {}.value
            precondition(loop.isCurrent)
            try await loop.sleep(for: .milliseconds(1)).value
            precondition(loop.isCurrent)
            return 42
        }
        print(answer)
    }
}
