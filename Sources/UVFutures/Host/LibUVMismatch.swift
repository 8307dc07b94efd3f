/// A copy of libuv in this process.
public struct LibUVCopy: Hashable, Sendable {
    /// The version, like `1.44.2`.
    public let version: String
    /// The file that contains it: a library, a program or an extension that carries its own copy.
    public let path: String
    /// The address it was loaded to, which tells two copies of one file apart.
    let address: UInt
}

/// The error of an attempt to attach an event loop: another copy of libuv made the host's loop than the copy that this
/// library calls.
public struct LibUVMismatch: Error, Hashable, CustomStringConvertible {
    /// The copy that made the host's loop.
    public let host: LibUVCopy
    /// The copy that this library calls.
    public let own: LibUVCopy

    public var description: String {
        "the host's loop is of libuv \(host.version) from \(host.path), but this library calls libuv "
            + "\(own.version) from \(own.path); let both use one copy, or give this library a loop of its own and "
            + "poll that from the host, by pollDescriptor, pollTimeout and turn()"
    }
}
