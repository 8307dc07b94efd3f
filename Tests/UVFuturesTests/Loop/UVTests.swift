import CFuturesSystem
import Glibc
import TestSupport
import Testing
import UVFutures

struct UVTests {
    private static let expectedVersion = unsafe getenv("EXPECT_LIBUV").map { unsafe String(cString: $0) }

    @Test("libuv and its headers are of the version expected", .enabled(if: expectedVersion != nil))
    func version() {
        let version = Self.expectedVersion
        #expect(EventLoop.libuvVersion == version)
        #expect(versionOfHeaders == version)
    }

    @Test("the main thread's loop traps on another thread")
    func mainLoop() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await Task.detached { _ = EventLoop.main }.value
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("EventLoop.main was used on another thread than the main thread"))
    }
}
