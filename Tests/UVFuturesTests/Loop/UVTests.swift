import CFuturesSystem
import Foundation
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

    @Test("the date of a loop is the system's, to the part of a second")
    func date() throws {
        try withLoop { loop in
            let before = Date()
            let date = loop.date
            #expect(date > before - 0.001 && date < Date() + 0.001)
        }
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
