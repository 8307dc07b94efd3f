// To stop a loop that runs for the main task ends nothing: the main task does.
import UVFutures

@main struct Program {
    static func main() async throws {
        let loop = EventLoop.main
        try await loop.sleep(for: .milliseconds(1)).value
        loop.stop()
        try await loop.sleep(for: .milliseconds(1)).value
        print("still running: \(loop.isCurrent)")
    }
}
