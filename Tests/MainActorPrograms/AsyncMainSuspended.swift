import UVFutures

@main struct Program {
    static func main() async throws {
        await Task.yield()
        try EventLoop.runMain { _ in }
    }
}
