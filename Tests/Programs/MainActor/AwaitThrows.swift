import UVFutures

struct Failure: Error {}

@main struct Program {
    static func main() async throws {
        try await EventLoop.main.sleep(for: .milliseconds(1)).value
        throw Failure()
    }
}
