import CLibUV
import Dispatch
import Glibc
import TestSupport
import Testing
import UVFutures

/// Hosts that unload libraries, and threads of theirs that end.
struct UnloadingTests {
    @Test("a library that is to be kept is still there when it has been unloaded, and no other")
    func keeps() async {
        await #expect(processExitsWith: .success) {
            // Two of glibc's that nothing here needs.
            let (kept, other) = ("libnss_hesiod.so.2", "libthread_db.so.1")
            let libraries = unsafe (dlopen(kept, RTLD_LAZY)!, dlopen(other, RTLD_LAZY)!)
            let address = unsafe dlsym(libraries.0, "_nss_hesiod_setpwent")!
            precondition(unsafe LoadedFile.keep(address))
            unsafe dlclose(libraries.0)
            unsafe dlclose(libraries.1)
            precondition(unsafe dlopen(kept, RTLD_LAZY | RTLD_NOLOAD) != nil)
            precondition(unsafe dlopen(other, RTLD_LAZY | RTLD_NOLOAD) == nil)
        }
    }

    @Test("a program is no library, nor is what is in no file")
    func program() {
        #expect(unsafe !LoadedFile.keep(#dsohandle))
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        #expect(unsafe !LoadedFile.keep(memory))
        unsafe memory.deallocate()
    }

    enum Forgotten: CaseIterable, Codable { case detach, itsFuture }

    @Test("a thread that ends while a loop is attached to its host's traps", arguments: Forgotten.allCases)
    func forgotten(what: Forgotten) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [what] in
            let group = DispatchGroup()
            startThread(of: group) {
                let host = HostLoop()
                let loop = try! host.attach()
                if what == .itsFuture { loop.detach().ignoreFailure() }
                unsafe _ = Unmanaged.passRetained(loop)
            }
            group.wait()
            // It may still be at its end.
            _ = eventually { false }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains(
                "A thread has ended while an event loop was attached to its host's loop. Call detach() first, and let "
                    + "the host run its loop until the future of that completes."))
    }

    @Test("a thread whose loop was detached, or is its own, ends")
    func detached() throws {
        try onThread { try withHost { _, loop in _ = loop.submit {} } }
        let loop = try onThread { try EventLoop() }
        try loop.run()
        loop.shutdown()
    }
}
