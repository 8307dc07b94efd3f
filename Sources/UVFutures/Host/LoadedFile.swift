internal import CFuturesSystem
internal import Glibc

/// The libraries that the process has loaded. A host may unload some of them again.
package enum LoadedFile {
    /// Keeps the library with this code loaded until the process ends. A host may want to unload the library,
    /// as Node does when a worker ends. But Swift's runtime still uses the types of the library, and a thread
    /// that ends calls its functions.
    static func keepOwn() { _ = isOwnKept }

    private static let isOwnKept = unsafe keep(#dsohandle)

    /// Keeps the library that contains `address` loaded until the process ends. Returns `false` if no library
    /// contains `address`. The program itself is not a library.
    package static func keep(_ address: UnsafeRawPointer) -> Bool {
        var file = unsafe loaded_file()
        guard unsafe find_loaded_file(address, &file) != 0 else { return false }
        return unsafe dlopen(file.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nil
    }
}
