import Glibc
import Testing
import UVFutures

struct LoadedFileTests {
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
}
