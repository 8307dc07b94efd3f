/// A copy of libuv in this process.
public struct LibUVCopy: Hashable, Sendable {
    /// Like `1.44.2`.
    public let version: String
    /// The file that it was loaded from: a library, a program or an extension that carries its own.
    public let path: String
    /// Where it was loaded to, which tells two copies of one file apart.
    let address: UInt
}

/// Why an event loop cannot be attached: the host's loop was made by another copy of libuv than the one that this
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
