// The loop of the main thread is asked for when the main task has suspended already.
import UVFutures

@main struct Program {
    static func main() async throws {
        await Task.yield()
        try await EventLoop.main.sleep(for: .milliseconds(1)).value
    }
}
