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

    #if arch(x86_64)
        @Test("a host without a version, whose code is in no file, is refused, too")
        func unknown() throws {
            // A function that returns NULL, as a compiler at run time makes it.
            let code: [UInt8] = [0x31, 0xC0, 0xC3]
            let flags = CInt(MAP_PRIVATE | MAP_ANONYMOUS)
            let page = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, flags, -1, 0)!
            unsafe page.copyMemory(from: code, byteCount: code.count)
            #expect(unsafe mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
            let impostor = unsafe unsafeBitCast(
                page, to: (@convention(c) () -> UnsafePointer<CChar>?).self)
            let host = HostLoop()
            let text = complaint { _ = unsafe try EventLoop(attachingTo: host.loop, hostVersion: impostor) }
            #expect(
                text?.hasPrefix("the host's loop is of libuv of no version from an unknown file, but this")
                    == true)
            #expect(host.close() == 0)
            unsafe munmap(page, 4096)
        }
    #endif
}
