// An asynchronous main cannot await what another loop than the main one would have to do.
import UVFutures

@main struct Program {
    static func main() async throws {
        let loop = try EventLoop()
        try loop.run(until: loop.sleep(for: .milliseconds(1)))
        try await loop.sleep(for: .milliseconds(1)).value
    }
}
