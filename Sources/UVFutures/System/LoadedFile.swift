internal import CLibUV
internal import Glibc

/// The files that the process has loaded, some of which a host may unload again.
package enum LoadedFile {
    /// Keeps the library that holds this code until the process ends. A host may want to unload it, as Node does when a
    /// worker ends. But Swift's runtime still looks at its types, and the end of a thread calls its functions.
    static func keepOwn() { _ = isOwnKept }

    private static let isOwnKept = unsafe keep(#dsohandle)

    /// Keeps the library that holds `address` until the process ends. Returns whether there is one: a program is not
    /// one.
    package static func keep(_ address: UnsafeRawPointer) -> Bool {
        var file = unsafe loaded_file()
        guard unsafe find_loaded_file(address, &file) != 0 else { return false }
        return unsafe dlopen(file.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nil
    }
}
