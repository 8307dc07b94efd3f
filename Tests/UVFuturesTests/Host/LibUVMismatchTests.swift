import Glibc
import Testing
import UVFutures

struct LibUVMismatchTests {
    @Test("a host whose libuv is another copy is refused, with the versions and files of both")
    func otherCopy() throws {
        let host = HostLoop()
        let impostor: @convention(c) () -> UnsafePointer<CChar>? = {
            unsafe strerror(0).map { unsafe UnsafePointer($0) }
        }
        let error = #expect(throws: LibUVMismatch.self) {
            unsafe try EventLoop(attachingTo: host.loop, hostVersion: impostor)
        }
        let mismatch = try #require(error)
        #expect(mismatch.host.version == "Success")
        #expect(mismatch.own.version == EventLoop.libuvVersion)
        #expect(mismatch.own.path.contains("libuv"))
        #expect(
            mismatch.description
                == "the host's loop is of libuv Success from \(mismatch.host.path), but this library calls libuv "
                + "\(EventLoop.libuvVersion) from \(mismatch.own.path); let both use one copy, or give this library a "
                + "loop of its own and poll that from the host, by pollDescriptor, pollTimeout and turn()")
        #expect(host.close() == 0)
    }
}
