/// A copy of libuv in this process.
public struct LibUVCopy: Hashable, Sendable {
    /// The version, such as `1.44.2`.
    public let version: String
    /// The path of the file that contains this copy: a library, a program, or an extension that carries libuv.
    public let path: String
    /// The address to which this copy was loaded. Two copies of one file have different addresses.
    let address: UInt
}

/// The error when an event loop cannot be attached to the libuv loop of a host: one copy of libuv made the host's
/// loop, and this library calls a different copy.
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
